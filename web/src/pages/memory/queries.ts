// What the page of a memory asks the server, whatever its kind, and the parts of it that stand in the address.
import { queryOptions } from '@tanstack/react-query';
import { api, ask, paged, type Schemas } from '@/api/client';
import { choice, count, flag, text, type Field } from '@/app/searchState';
import type { PageOf } from '@/api/queries';

export type Provenance = Schemas['Provenance'];
export type Relative = Schemas['Relative'];
export type Version = Schemas['MemoryVersionLine'];

export const TABS = ['text', 'versions', 'lineage', 'told'] as const;
export type Tab = (typeof TABS)[number];
// Tabs that pages of single kinds once had.
const FORMER: Partial<Record<string, Tab>> = { content: 'text', aliases: 'text', relations: 'lineage' };
const tabs = choice(TABS, 'text');

export const STATE = {
  tab: { ...tabs, parse: (written: string) => FORMER[written] ?? tabs.parse(written) },
  v: count(), // an earlier version, read in place of the current one
  diff: text(), // 2..3
  mode: choice(['', 'split', 'unified'], ''), // how a diff is drawn; by default as the screen's width suggests
  view: choice(['rendered', 'source'], 'rendered'),
  edit: flag(),
  why: flag(), // formerly a drawer
};
type StateOf<S> = { [K in keyof S]: S[K] extends Field<infer T> ? T : never };
export type PageState = StateOf<typeof STATE>;
export type SetPageState = (change: Partial<PageState>, options?: { replace?: boolean }) => void;

/** How often what is on the screen is looked at again: agents write while people look. */
export const WATCH_MS = 4_000;
const KINDS = ['observation', 'summary', 'prompt', 'note', 'qa', 'knowledge', 'lesson'] as const;
const MOST_TOLD = 200; // sessions

export function provenanceQuery(reference: string) {
  return queryOptions({
    queryKey: ['memory', 'provenance', reference],
    queryFn: ({ signal }) => {
      const params = { path: { ref: reference }, query: { told: MOST_TOLD } };
      return ask(api.GET('/api/provenance/{ref}', { params, signal }));
    },
  });
}

export async function versionPage(ref: string, cursor: string | null): Promise<PageOf<Version>> {
  const query = { ref, limit: 50, ...(cursor ? { cursor } : {}) };
  return paged(await ask(api.GET('/api/memories/versions', { params: { query } })));
}

export function diffQuery(ref: string, before: number, after: number) {
  return queryOptions({
    queryKey: ['memory', 'diff', ref, before, after],
    queryFn: ({ signal }) => ask(api.GET('/api/memories/diff', { params: { query: { ref, before, after } }, signal })),
    staleTime: Infinity, // what was written stays written
  });
}

export function wayBack(ref: string, version: number, signal: AbortSignal) {
  return ask(api.GET('/api/memories/rollback/preview', { params: { query: { ref, version } }, signal }));
}

/** Refused with a conflict if somebody wrote since `seen`. */
export function rollBack(ref: string, version: number, seen: number) {
  return ask(api.POST('/api/memories/rollback', { body: { ref, version, seen } }));
}

/** The memories before and after one in its project, as the list has them. */
export async function neighbours(seq: number, project: string, signal: AbortSignal) {
  const around = { anchor: String(seq), direction: 'around' as const, limit: 3, kind: [...KINDS] };
  const query = { ...around, ...(project ? { project } : {}) };
  const { items } = await ask(api.GET('/api/memories/timeline', { params: { query }, signal }));
  const at = items.findIndex((item) => item.seq === seq);
  // A hidden memory is not in the list itself.
  return at < 0 ? {} : { newer: items[at - 1], older: items[at + 1] };
}

export type Pair = { before: number; after: number };

/** `2..3` in an address; null for anything else. */
export function pairOf(written: string): Pair | null {
  const found = /^(\d{1,9})\.\.(\d{1,9})$/.exec(written);
  return found ? { before: Number(found[1]), after: Number(found[2]) } : null;
}
