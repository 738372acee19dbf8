// The typed client: paths, parameters and answers come from the server's own description. It adds the key, and turns
// every refusal into an ApiError.
import createClient from 'openapi-fetch';
import { asApiError, errorOf } from './errors';
import { authorization, currentKey, refused } from './keys';
import type { components, paths } from './schema';

export { ApiError } from './errors';
export type Schemas = components['schemas'];
/** What a GET of a path answers. */
export type Answer<P extends keyof paths> = paths[P] extends {
  get: { responses: { 200: { content: { 'application/json': infer T } } } };
}
  ? T
  : never;

async function withKey(request: Request): Promise<Response> {
  const sent = currentKey();
  for (const [name, value] of Object.entries(authorization())) request.headers.set(name, value);
  const reply = await fetch(request);
  if (reply.status === 401) refused(sent);
  return reply;
}

export const api = createClient<paths>({ baseUrl: '', fetch: withKey });

type Answered<T> = { data?: T; error?: unknown; response: Response };

/** The data of an answer: `await ask(api.GET('/api/stats'))`; throws an ApiError otherwise. */
export async function ask<T>(request: Promise<Answered<T>>): Promise<T> {
  let answer: Answered<T>;
  try {
    answer = await request;
  } catch (thrown) {
    throw asApiError(thrown);
  }
  if (!answer.response.ok) throw errorOf(answer.response.status, answer.error);
  return answer.data as T;
}

/** Only what was asked for: an empty parameter is none. */
export function given<T extends Record<string, unknown>>(query: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const kept = Object.entries(query).filter(([, value]) => value !== '' && value !== null && value !== undefined);
  return Object.fromEntries(kept) as { [K in keyof T]?: NonNullable<T[K]> };
}

/** A page of a list as the server tells it, for usePages. */
export function paged<T>(told: { items: T[]; next_cursor: string | null }) {
  return { rows: told.items, next: told.next_cursor };
}

/** Save what an address answers as a file: a link cannot carry a key. */
export async function download(path: string, name: string) {
  try {
    const reply = await withKey(new Request(new URL(path, location.origin)));
    if (!reply.ok) throw errorOf(reply.status, await reply.json().catch(() => null));
    saveAs(await reply.blob(), name);
  } catch (thrown) {
    throw asApiError(thrown);
  }
}

export function saveAs(blob: Blob, name: string) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
