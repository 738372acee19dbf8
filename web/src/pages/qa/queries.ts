// What the review asks the server, and what it tells it.
import { keepPreviousData, useQuery, type QueryClient } from '@tanstack/react-query';
import { api, ask, type Schemas } from '@/api/client';
import type { Living } from '@/api/life';
import type { PageOf } from '@/api/queries';
import { nextPlace, parsePlace, STATUSES, type QaStatus, type Shelf } from './shelves';

export type QaItem = Schemas['QAItem'];
export type QaDetail = Schemas['QAItemDetail'];
export type QaNeighbour = Schemas['QABeside'];
export type Verdict = 'approve' | 'reject';

/** A row of the queue; a search does not tell how far an item is believed. */
export type QueueRow = Living & {
  id: string;
  question: string;
  status: QaStatus;
  created: number;
  confidence: number | null;
  contradicted: boolean;
};

/** A page of the queue; the first one of a shelf says how many candidates there were when it was read. */
export type QueuePage = PageOf<QueueRow> & { counted: number | null };

const PAGE = 20;
const LOOK_MS = 5_000; // between looks at how many there are: the live stream does not tell of them
const MOST_TRIES = 4; // pages of a search that may hold nothing of this shelf
const SIMILAR = 6;

/** One page of what stands on a shelf, or of what words find there. */
export async function queuePage(
  shelf: Shelf,
  project: string,
  words: string,
  cursor: string | null,
): Promise<QueuePage> {
  if (words) return { ...(await foundPage(shelf, project, words, cursor)), counted: null };
  const [page, counted] = await Promise.all([
    shelfPage(shelf, project, cursor),
    shelf === 'candidate' && cursor === null ? countItems(project) : null,
  ]);
  return { ...page, counted: counted?.counts.candidate ?? null };
}

/** Its first status to the end, then the next one. */
async function shelfPage(shelf: Shelf, project: string, cursor: string | null): Promise<PageOf<QueueRow>> {
  const statuses = STATUSES[shelf];
  let next = cursor;
  for (;;) {
    const place = parsePlace(next);
    const query = {
      status: statuses[place.index] ?? statuses[0],
      limit: PAGE,
      ...(project ? { project_id: project } : {}),
      ...(place.after ? { cursor: place.after } : {}),
    };
    const { items, next_cursor } = await ask(api.GET('/v1/qa/items', { params: { query } }));
    next = nextPlace(place, next_cursor, statuses.length);
    if (items.length || next === null) return { rows: items.map(rowOf), next };
  }
}

/** What a search finds, the best first. */
async function foundPage(
  shelf: Shelf,
  project: string,
  words: string,
  cursor: string | null,
): Promise<PageOf<QueueRow>> {
  const statuses: readonly string[] = STATUSES[shelf];
  let offset = Number(cursor ?? 0);
  for (let tries = 1; ; tries += 1) {
    const query = { query: words, type: 'qa', limit: PAGE, offset, ...(project ? { project } : {}) };
    const answer = (await ask(api.GET('/api/search/all', { params: { query } }))) as Schemas['EverythingRows'];
    offset += PAGE;
    const rows = answer.results.filter(({ status }) => statuses.includes(status)).map(foundRow);
    const next = answer.hasMore ? `${offset}` : null;
    if (rows.length || next === null || tries === MOST_TRIES) return { rows, next };
  }
}

function rowOf(item: Schemas['QAListedItem']): QueueRow {
  const { seq, qa_id: id, question, life, marks, origin } = item;
  return {
    ...{ seq, id, question, life, marks, origin, kind: 'qa', ref: id, title: question },
    project: item.project_id,
    status: item.status,
    created: item.created_at_ms,
    confidence: item.confidence,
    contradicted: item.contradicts.length > 0,
  };
}

function foundRow(found: Schemas['FoundMemory']): QueueRow {
  const { seq, id, title, project, status, created_at_epoch: created, life, marks, origin } = found;
  const living = { seq, ref: id, kind: 'qa' as const, title, project, life, marks, origin };
  return { ...living, id, question: title, status, created, confidence: null, contradicted: false };
}

function countItems(project: string, signal?: AbortSignal) {
  const query = project ? { project_id: project } : {};
  return ask(api.GET('/v1/qa/counts', { params: { query }, ...(signal ? { signal } : {}) }));
}

export function useCounts(project: string) {
  return useQuery({
    queryKey: ['qa', 'counts', project],
    queryFn: ({ signal }) => countItems(project, signal),
    placeholderData: keepPreviousData,
    refetchInterval: LOOK_MS,
  });
}

function itemQuery(id: string) {
  return {
    queryKey: ['qa', 'item', id],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      ask(api.GET('/v1/qa/items/{qa_id}', { params: { path: { qa_id: id } }, signal })),
  };
}

function similarQuery(id: string) {
  return {
    queryKey: ['qa', 'similar', id],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      ask(
        api.GET('/v1/qa/items/{qa_id}/similar', { params: { path: { qa_id: id }, query: { limit: SIMILAR } }, signal }),
      ),
  };
}

export function useItem(id: string | null) {
  return useQuery({ ...itemQuery(id ?? ''), enabled: id !== null });
}

export function useSimilar(id: string) {
  return useQuery(similarQuery(id));
}

/** Ask for what will probably be looked at next, so that it stands there at once. */
export function prepare(client: QueryClient, id: string) {
  void client.prefetchQuery(itemQuery(id));
  void client.prefetchQuery(similarQuery(id));
}

export function decide(id: string, verdict: Verdict) {
  const params = { path: { qa_id: id } };
  return verdict === 'approve'
    ? ask(api.POST('/v1/qa/items/{qa_id}/approve', { params, body: {} }))
    : ask(api.POST('/v1/qa/items/{qa_id}/reject', { params, body: {} }));
}

export function merge(id: string, into: string) {
  return ask(api.POST('/v1/qa/items/{qa_id}/merge', { params: { path: { qa_id: id } }, body: { into } }));
}

export function takeBack(id: string, delta: string) {
  return ask(api.POST('/v1/qa/items/{qa_id}/undo', { params: { path: { qa_id: id } }, body: { delta } }));
}
