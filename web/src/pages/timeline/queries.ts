// What the timeline, observation and session pages ask, and how they write.
import { api, ask, given, paged, type Schemas } from '@/api/client';
import type { Living } from '@/api/life';
import type { PageOf } from '@/api/queries';
import { FACETS } from '@/parts/facets';
import { KINDS, memoryNumber, type Filters, type Show, type TimelineKind } from './filters';

export type Session = Schemas['SessionRow'];
export type OneSession = Schemas['OneSession'];
export type Turn = Schemas['SessionTurn'];
export type SessionEvent = Schemas['SessionEvent'];
export type Injection = Schemas['SessionInjection'];
export type SessionMemory = Schemas['SessionMemory'];

/** One line of the timeline or of its search. */
export type Row = Living & {
  type: string;
  snippet: string;
  created_ms: number;
  session: number | null;
  sessionKey: string | null;
  score: number | null;
};

export type TimelinePage = { rows: Row[]; older: string | null; newer: string | null };

export const PAGE = 200; // rows of a page
const PEEK = 50;
const FOUND = 50;
const DEEPEST = 1_000; // results that the search goes through
const LISTED = 100;
const MOST_TRIES = 5; // pages that may hold nothing that fits
const AT_ONCE = 50; // turns

function filtersIn({ project, kind, from, to }: Filters) {
  return { ...given({ project, from, to }), kind: kind ? [kind] : [...KINDS] };
}

async function timeline(query: Record<string, unknown>, signal: AbortSignal): Promise<TimelinePage> {
  const { items, older, newer } = await ask(api.GET('/api/memories/timeline', { params: { query }, signal }));
  return { rows: items.map(rowOf), older, newer };
}

function rowOf(item: Schemas['TimelineRow'] | Schemas['MemoryRow']): Row {
  const { ref, seq, kind, type, title, snippet, created_ms, project, session, session_key, life, marks, origin } = item;
  const place = { created_ms, project, session, sessionKey: session_key };
  return { ref, seq, kind, type, title, snippet, ...place, life, marks, origin, score: null };
}

/** A page by its cursor; without one, the newest, or those around an anchor. */
export function timelinePage(filters: Filters, anchor: string, cursor: string | null, signal: AbortSignal) {
  // From a time on, older ones; around a memory, both.
  const direction = memoryNumber(anchor) === null ? 'older' : 'around';
  const place = cursor ? { cursor } : anchor ? { anchor, direction } : {};
  return timeline({ ...filtersIn(filters), ...place, limit: PAGE }, signal);
}

/** The newest few, to see whether there is something new. */
export function newestFew(filters: Filters, signal: AbortSignal) {
  return timeline({ ...filtersIn(filters), limit: PEEK }, signal);
}

/** A page of what stands in one part of life, has a mark or labels; of every kind, unless one is wanted. */
export async function listed(show: Show, filters: Filters, cursor: string | null): Promise<PageOf<Row>> {
  const { life, mark, health } = show;
  const labels = Object.fromEntries(
    FACETS.filter((name) => filters.labels[name]).map((name) => [name, [filters.labels[name]]]),
  );
  // What is in use is also what waits for approval: the server's own choice.
  const state = health ? { health } : mark ? { mark: [mark] } : life === 'active' ? {} : { life: [life] };
  let next = cursor;
  for (let tries = 1; ; tries += 1) {
    const query = { ...filtersIn(filters), ...labels, ...state, ...given({ cursor: next }), limit: LISTED };
    const page = await ask(api.GET('/api/memories', { params: { query } }));
    next = page.next_cursor;
    // One call looks at a bounded number of rows, and may find none that fits.
    if (page.items.length || next === null || tries === MOST_TRIES) return { rows: page.items.map(rowOf), next };
  }
}

const SEARCHED: Record<TimelineKind, string> = {
  ...{ observation: 'observations', summary: 'sessions', prompt: 'prompts', note: 'notes' },
  ...{ qa: 'qa', knowledge: 'knowledge', lesson: 'lessons' },
};

export type Found = PageOf<Row> & { mode: string | null; notes: string[] };

/** A page of what the product's own search finds among all memories. */
export async function search(text: string, filters: Filters, cursor: string | null): Promise<Found> {
  const offset = Number(cursor ?? 0);
  const type = filters.kind ? SEARCHED[filters.kind] : Object.values(SEARCHED).join(',');
  const { labels } = filters;
  const query = {
    query: text,
    type,
    limit: FOUND,
    offset,
    format: 'json' as const,
    ...given({ project: filters.project, dateStart: filters.from, dateEnd: filters.to }),
    ...given({ obs_type: labels.type, files: labels.file, concepts: labels.concept }),
  };
  const answer = (await ask(api.GET('/api/search/all', { params: { query } }))) as Schemas['EverythingRows'];
  const next = offset + FOUND;
  const rows = answer.results.map(foundRow);
  return {
    rows,
    next: answer.hasMore && next < DEEPEST ? String(next) : null,
    mode: answer.mode ?? null,
    notes: answer.notes ?? [],
  };
}

function foundRow(item: Schemas['FoundMemory']): Row {
  const title = item.title || item.excerpt;
  return {
    ref: item.label,
    seq: item.seq,
    kind: item.kind,
    type: item.type,
    title,
    snippet: item.excerpt,
    created_ms: item.created_at_epoch,
    project: item.project,
    session: null,
    sessionKey: item.session,
    life: item.life,
    marks: item.marks,
    origin: item.origin,
    score: item.score ?? null,
  };
}

export async function sessions(project: string, q: string, cursor: string | null): Promise<PageOf<Session>> {
  return paged(await ask(api.GET('/api/sessions', { params: { query: given({ project, q, cursor }) } })));
}

export function session(number: number, signal: AbortSignal): Promise<OneSession> {
  return ask(api.GET('/api/sessions/{number}', { params: { path: { number } }, signal }));
}

/** What was undone or deleted is there too, marked as hidden. */
export async function turns(number: number, cursor: string | null): Promise<PageOf<Turn>> {
  const query = { limit: AT_ONCE, hidden: true, ...given({ cursor }) };
  return paged(await ask(api.GET('/api/sessions/{number}/turns', { params: { path: { number }, query } })));
}

export function wholeEvent(number: number, seq: number, signal: AbortSignal): Promise<Schemas['WholeEvent']> {
  return ask(api.GET('/api/sessions/{number}/events/{seq}', { params: { path: { number, seq } }, signal }));
}
