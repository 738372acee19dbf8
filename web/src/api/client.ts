// The typed client: paths, parameters and answers come from the server's own description. It adds the key, and turns
// every refusal into an ApiError.
import createClient from 'openapi-fetch';
import { asApiError, errorOf } from './errors';
import { authorization, currentKey, refused } from './keys';
import type { components, paths } from './schema';

export { ApiError } from './errors';
export type Schemas = components['schemas'];

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
