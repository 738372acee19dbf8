// What the timeline, observation and session pages ask, and how they write.
import { api, ask, type Schemas } from '@/api/client';
import type { PageOf } from '@/api/queries';
import { memoryNumber, type Filters, type TimelineKind } from './filters';

export type MemoryKind = Schemas['Kind'];
export type Session = Schemas['SessionRow'];
export type OneSession = Schemas['OneSession'];
export type Turn = Schemas['SessionTurn'];
export type SessionEvent = Schemas['SessionEvent'];
export type Injection = Schemas['SessionInjection'];
export type SessionMemory = Schemas['SessionMemory'];
export type Provenance = Schemas['Provenance'];

/** One line of the timeline or of its search. */
export type Row = {
  ref: string;
  seq: number;
  kind: MemoryKind;
  type: string;
  title: string;
  snippet: string;
  created_ms: number;
  project: string;
  session: number | null;
  sessionKey: string | null;
  score: number | null;
};

export type TimelinePage = { rows: Row[]; older: string | null; newer: string | null };

export const PAGE = 200; // rows of a page
const PEEK = 50;
const FOUND = 50;
const DEEPEST = 1_000; // results that the search goes through
const AT_ONCE = 50; // turns

function filtersIn({ project, kind, from, to }: Filters) {
  return {
    ...(project ? { project } : {}),
    ...(kind ? { kind: [kind] } : {}),
    ...(from ? { from } : {}),
    ...(to ? { to } : {}),
  };
}

async function timeline(query: Record<string, unknown>, signal: AbortSignal): Promise<TimelinePage> {
  const { items, older, newer } = await ask(api.GET('/api/memories/timeline', { params: { query }, signal }));
  return { rows: items.map(rowOf), older, newer };
}

function rowOf(item: Schemas['TimelineRow']): Row {
  const { ref, seq, kind, type, title, snippet, created_ms, project, session, session_key } = item;
  return { ref, seq, kind, type, title, snippet, created_ms, project, session, sessionKey: session_key, score: null };
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

/** The memory itself as a row, with the one before and the one after it in its project. */
export async function neighbours(seq: number, project: string, signal: AbortSignal) {
  const query = { anchor: String(seq), direction: 'around' as const, limit: 3, ...(project ? { project } : {}) };
  const { items } = await ask(api.GET('/api/memories/timeline', { params: { query }, signal }));
  const at = items.findIndex((item) => item.seq === seq);
  // A hidden memory is not in the list itself, but its place is known.
  const own = at >= 0 ? items[at] : undefined;
  return { own, newer: at > 0 ? items[at - 1] : undefined, older: at >= 0 ? items[at + 1] : undefined };
}

const SEARCHED: Record<TimelineKind, string> = { observation: 'observations', summary: 'sessions', prompt: 'prompts' };

export type Found = PageOf<Row> & { mode: string | null; notes: string[] };

/** A page of what the product's own search finds among what was captured. */
export async function search(text: string, filters: Filters, cursor: string | null): Promise<Found> {
  const offset = Number(cursor ?? 0);
  const type = filters.kind ? SEARCHED[filters.kind] : Object.values(SEARCHED).join(',');
  const query = {
    query: text,
    type,
    limit: FOUND,
    offset,
    format: 'json' as const,
    ...(filters.project ? { project: filters.project } : {}),
    ...(filters.from ? { dateStart: filters.from } : {}),
    ...(filters.to ? { dateEnd: filters.to } : {}),
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
    score: item.score ?? null,
  };
}

export type MemoryText =
  | { kind: 'observation'; of: Schemas['Observation'] }
  | { kind: 'summary'; of: Schemas['Summary'] }
  | { kind: 'prompt'; of: Schemas['Prompt'] };

/** What a memory of the timeline says, in full. */
export async function memoryText(kind: TimelineKind, number: number, signal: AbortSignal): Promise<MemoryText> {
  const params = { path: { number } };
  if (kind === 'observation') return { kind, of: await ask(api.GET('/api/observation/{number}', { params, signal })) };
  if (kind === 'summary') return { kind, of: await ask(api.GET('/api/session/{number}', { params, signal })) };
  return { kind, of: await ask(api.GET('/api/prompt/{number}', { params, signal })) };
}

/** By its name without the `#`: 12, S9, P7. */
export function provenance(ref: string, signal: AbortSignal): Promise<Provenance> {
  return ask(api.GET('/api/provenance/{ref}', { params: { path: { ref } }, signal }));
}

export async function projects(signal: AbortSignal): Promise<string[]> {
  return (await ask(api.GET('/api/projects', { signal }))).projects;
}

export async function sessions(project: string, q: string, cursor: string | null): Promise<PageOf<Session>> {
  const query = { ...(project ? { project } : {}), ...(q ? { q } : {}), ...(cursor ? { cursor } : {}) };
  const page = await ask(api.GET('/api/sessions', { params: { query } }));
  return { rows: page.items, next: page.next_cursor };
}

export function session(number: number, signal: AbortSignal): Promise<OneSession> {
  return ask(api.GET('/api/sessions/{number}', { params: { path: { number } }, signal }));
}

/** What was undone or deleted is there too, marked as hidden. */
export async function turns(number: number, cursor: string | null): Promise<PageOf<Turn>> {
  const query = { limit: AT_ONCE, hidden: true, ...(cursor ? { cursor } : {}) };
  const page = await ask(api.GET('/api/sessions/{number}/turns', { params: { path: { number }, query } }));
  return { rows: page.items, next: page.next_cursor };
}

export function wholeEvent(number: number, seq: number, signal: AbortSignal): Promise<Schemas['WholeEvent']> {
  return ask(api.GET('/api/sessions/{number}/events/{seq}', { params: { path: { number, seq } }, signal }));
}

/** What is to be forgotten: some memories, or a session with everything in it. */
export type Forgettable = { ids: number[] } | { sessionDbId: number };

export function forgetting(what: Forgettable, preview: boolean): Promise<Schemas['ForgetAnswer']> {
  return ask(api.POST('/api/forget', { body: { ...what, preview } }));
}

/** Whose writes are to be taken back. */
export type Whose = { source: string } | { delta: string };

export function undoPreview(whose: Whose, signal: AbortSignal): Promise<Schemas['Outline']> {
  return ask(api.GET('/api/undo/preview', { params: { query: whose }, signal }));
}

export type Undone = { delta: string | null; restored: number; left: number; lost: string[] };

/** Takes back all of it, however many calls that needs. */
export async function undo(whose: Whose, mode: 'safe' | 'strict'): Promise<Undone> {
  const done: Undone = { delta: null, restored: 0, left: 0, lost: [] };
  for (let after: number | null = 0; after !== null;) {
    const into = done.delta ? { into: done.delta } : {};
    const step: Schemas['UndoAnswer'] = await ask(api.POST('/api/undo', { body: { ...whose, mode, after, ...into } }));
    done.delta = step.delta ?? done.delta;
    done.restored += step.restored;
    done.left += step.left;
    done.lost.push(...step.lost_uris);
    after = step.after;
  }
  return done;
}
