// What the pages of the knowledge base ask the server; tasks' workspaces are told by JSON-RPC alone.
import { useQuery } from '@tanstack/react-query';
import { api, ask, ApiError, paged, type Schemas } from '@/api/client';
import type { PageOf } from '@/api/queries';

export type Entry = { id: string; title: string; snippet: string; at: number | null };
export type Library = Schemas['LibraryNamespace'];
export type LibraryDocument = Schemas['LibraryDocument'];
export type Passage = Schemas['FoundPassage'];
export type Workspace = { path: string; files: Record<string, string | { bytes: number }> };
export type Match = { source: 'workspace'; key: string; value: { line: number | null; text: string } };
type Told<T> = { result?: T; error?: { code: number; message: string } };

const PAGE = 100;
const FOUND = 50;

async function rpc<T>(method: string, params: Record<string, unknown>, signal: AbortSignal | null = null): Promise<T> {
  const body = { jsonrpc: '2.0', id: 1, method, params };
  const told = (await ask(api.POST('/rpc', { body, signal } as never))) as Told<T>;
  if (told.result === undefined) throw new ApiError('invalid_argument', told.error?.message ?? method, 400);
  return told.result;
}

/** Entries, the newest first, or those that fit a question best. */
export async function entryPage(q: string, cursor: string | null): Promise<PageOf<Entry>> {
  if (q) {
    type Found = { results: { id: string; summary: string; content: string }[] };
    const found = await rpc<Found>('memory_query', { query: q, top_k: FOUND });
    const rows = found.results.map(({ id, summary, content }) => ({ id, title: summary, snippet: content, at: null }));
    return { rows, next: null };
  }
  const query = { kind: ['knowledge' as const], limit: PAGE, ...(cursor ? { cursor } : {}) };
  const page = await ask(api.GET('/api/memories', { params: { query } }));
  const rows = page.items.map(({ ref, title, snippet, created_ms }) => ({ id: ref, title, snippet, at: created_ms }));
  return { rows, next: page.next_cursor };
}

export function useEntry(id: string) {
  return useQuery({
    queryKey: ['knowledge', 'entry', id],
    queryFn: ({ signal }) => ask(api.GET('/api/memories/named/{ref}', { params: { path: { ref: id } }, signal })),
    enabled: id !== '',
  });
}

export function useLibraries() {
  return useQuery({
    queryKey: ['knowledge', 'libraries'],
    queryFn: async ({ signal }) => (await ask(api.GET('/api/v1/kb', { signal }))).items,
  });
}

export async function documentPage(namespace: string, cursor: string | null): Promise<PageOf<LibraryDocument>> {
  const query = { namespace, limit: PAGE, cursor: cursor ?? '' };
  return paged(await ask(api.GET('/api/v1/kb/documents', { params: { query } })));
}

export async function passagePage(namespace: string, q: string): Promise<PageOf<Passage>> {
  const query = { namespace, query: q, top_k: FOUND };
  return { rows: (await ask(api.GET('/api/v1/kb/search', { params: { query } }))).items, next: null };
}

export function usePassage(ref: string) {
  return useQuery({
    queryKey: ['knowledge', 'piece', ref],
    queryFn: ({ signal }) => ask(api.GET('/api/v1/kb/pieces/{ref}', { params: { path: { ref } }, signal })),
    enabled: ref !== '',
  });
}

/** Every task's folder, as far as the server tells of it; `note` says what it leaves out. */
export function useWorkspaces() {
  return useQuery({
    queryKey: ['knowledge', 'workspaces'],
    queryFn: ({ signal }) =>
      rpc<{ data: Record<string, Workspace>; note?: string }>('memory_dump', { level: 'workspace' }, signal),
  });
}

/** Files that contain every word. */
export function useMatches(q: string) {
  return useQuery({
    queryKey: ['knowledge', 'matches', q],
    queryFn: ({ signal }) =>
      rpc<{ results: Match[]; note?: string }>('memory_search', { query: q, level: 'workspace' }, signal),
    enabled: q !== '',
  });
}
