// What the pages of notes ask the server, and how each answer is remembered.
import { queryOptions } from '@tanstack/react-query';
import { api, ask, type Schemas } from '@/api/client';
import type { Living } from '@/api/life';
import type { PageOf } from '@/api/queries';

export type NoteFound = Schemas['NoteFound'] & Living;
export type NoteTold = Schemas['NoteTold'];
export type NoteTree = Schemas['NoteTree'];
export type NotePlace = Schemas['NotePlace'];
export type Status = Schemas['Status'];

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
  return { rows: told.items.map(found), next: told.next_cursor, degraded: told.notes };
}

function found(note: Schemas['NoteFound']): NoteFound {
  return { ...note, kind: 'note', ref: note.uri, title: note.headline };
}

/** The newest of the notes that fit: what tells that a list has fallen behind. */
export function newestQuery(wish: Wish) {
  return queryOptions({
    queryKey: ['notes', 'newest', wish],
    queryFn: async ({ signal }) => {
      const told = await ask(api.GET('/api/notes', { params: { query: { ...wish, limit: 20 } }, signal }));
      return told.items.map(found);
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

export function viewQuery(uri: string) {
  return queryOptions({
    queryKey: ['notes', 'view', uri],
    queryFn: ({ signal }) => ask(api.GET('/api/notes/view', { params: { query: { uri } }, signal })),
  });
}
