// What the pages of notes ask the server, and how each answer is remembered.
import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { api, ask, type Schemas } from '@/api/client';
import type { PageOf } from '@/api/queries';

export type Note = Schemas['Note'];
export type NoteFound = Schemas['NoteFound'];
export type NoteTold = Schemas['NoteTold'];
export type NoteVersion = Schemas['NoteVersion'];
export type NoteState = Schemas['NoteState'];
export type NoteChange = Schemas['NoteChange'];
export type NoteTree = Schemas['NoteTree'];
export type NotePlace = Schemas['NotePlace'];
export type NoteRelation = Schemas['NoteRelation'];
export type Status = Schemas['Status'];
export type Provenance = Schemas['Provenance'];
export type Relative = Schemas['Relative'];

/** In the order in which a person looks for them. */
export const STATUSES = [
  'active',
  'candidate',
  'validated',
  'deprecated',
  'expired',
  'archived',
  'quarantined',
  'deleted',
] as const satisfies readonly Status[];

const PAGE = 100;
const BRANCH = 200;
/** How often what is on the screen is looked at again: agents write while people look. */
export const WATCH_MS = 4_000;

export type Wish = {
  domain?: string;
  status?: Status;
  priority_min?: number;
  priority_max?: number;
  q?: string;
};

export type NotePage = PageOf<NoteFound> & { degraded: string[] };

export async function notePage(wish: Wish, cursor: string | null): Promise<NotePage> {
  const query = { ...wish, limit: PAGE, ...(cursor ? { cursor } : {}) };
  const told = await ask(api.GET('/api/notes', { params: { query } }));
  return { rows: told.items, next: told.next_cursor, degraded: told.notes };
}

/** The newest of the notes that fit: what tells that a list has fallen behind. */
export function newestQuery(wish: Wish) {
  return queryOptions({
    queryKey: ['notes', 'newest', wish],
    queryFn: async ({ signal }) => {
      const told = await ask(api.GET('/api/notes', { params: { query: { ...wish, limit: 20 } }, signal }));
      return told.items;
    },
    refetchInterval: WATCH_MS,
    enabled: !wish.q,
  });
}

export const statsQuery = queryOptions({
  queryKey: ['notes', 'stats'],
  queryFn: ({ signal }) => ask(api.GET('/api/notes/stats', { signal })),
});

export function branchQuery(prefix: string, cursor: string | null) {
  return queryOptions({
    queryKey: ['notes', 'tree', prefix, cursor],
    queryFn: ({ signal }) => {
      const query = { prefix, limit: BRANCH, ...(cursor ? { cursor } : {}) };
      return ask(api.GET('/api/notes/tree', { params: { query }, signal }));
    },
  });
}

export function noteQuery(uri: string) {
  return queryOptions({
    queryKey: ['notes', 'read', uri],
    queryFn: ({ signal }) => ask(api.GET('/api/notes/read', { params: { query: { uri } }, signal })),
    refetchInterval: (query) => (query.state.status === 'success' ? WATCH_MS : false),
  });
}

export function viewQuery(uri: string) {
  return queryOptions({
    queryKey: ['notes', 'view', uri],
    queryFn: ({ signal }) => ask(api.GET('/api/notes/view', { params: { query: { uri } }, signal })),
  });
}

export async function versionPage(uri: string, cursor: string | null): Promise<PageOf<NoteVersion>> {
  const query = { uri, limit: 50, ...(cursor ? { cursor } : {}) };
  const told = await ask(api.GET('/api/notes/versions', { params: { query } }));
  return { rows: told.items, next: told.next_cursor };
}

export function versionQuery(uri: string, version: number) {
  return queryOptions({
    queryKey: ['notes', 'version', uri, version],
    queryFn: ({ signal }) => ask(api.GET('/api/notes/version', { params: { query: { uri, version } }, signal })),
  });
}

export function diffQuery(uri: string, before: number, after: number) {
  return queryOptions({
    queryKey: ['notes', 'diff', uri, before, after],
    queryFn: ({ signal }) => ask(api.GET('/api/notes/diff', { params: { query: { uri, before, after } }, signal })),
  });
}

/** Never remembered: it must tell what would change now. */
export function wayBackQuery(uri: string, version: number) {
  return queryOptions({
    queryKey: ['notes', 'way-back', uri, version],
    queryFn: ({ signal }) =>
      ask(api.GET('/api/notes/rollback/preview', { params: { query: { uri, version } }, signal })),
    staleTime: 0,
    gcTime: 0,
  });
}

export function forgetQuery(seq: number) {
  return queryOptions({
    queryKey: ['notes', 'forget', seq],
    queryFn: () => ask(api.POST('/api/forget', { body: { ids: [seq], preview: true } })),
    staleTime: 0,
    gcTime: 0,
  });
}

export function provenanceQuery(reference: string) {
  return queryOptions({
    queryKey: ['notes', 'provenance', reference],
    queryFn: ({ signal }) => ask(api.GET('/api/provenance/{ref}', { params: { path: { ref: reference } }, signal })),
  });
}

export function takeBackQuery(delta: string) {
  return queryOptions({
    queryKey: ['notes', 'take-back', delta],
    queryFn: ({ signal }) => ask(api.GET('/api/undo/preview', { params: { query: { delta } }, signal })),
    staleTime: 0,
    gcTime: 0,
  });
}

/** After a write: everything about notes is asked for anew, in whichever page it is shown. */
export function useNotesChanged() {
  const client = useQueryClient();
  return useCallback(async () => {
    // Lists begin anew: asking again for every page that was once read could take long.
    void client.resetQueries({ predicate: ({ queryKey: [area, thing] }) => area === 'notes' && LISTS.has(thing) });
    await client.invalidateQueries({
      predicate: ({ queryKey: [area, thing] }) => area === 'notes' && !LISTS.has(thing) && !FIXED.has(thing),
    });
  }, [client]);
}

const LISTS = new Set<unknown>(['list', 'versions']);
// What was written stays written, and what a dialog asked is asked anew by the next.
const FIXED = new Set<unknown>(['version', 'diff', 'way-back', 'forget', 'take-back']);
