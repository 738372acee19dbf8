/**
 * A codexmem server from TypeScript: every path, parameter and answer of its description, and the few verbs that most
 * programs need. It uses `fetch` and nothing else, and runs in Node, Deno, Bun and browsers.
 */
import { CodexmemError, errorOf, thrownBy } from './errors.js';
import type { components, paths } from './schema.js';

export { CodexmemError } from './errors.js';
export type Schemas = components['schemas'];

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
/** Paths that take a method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, { responses: object }> ? P : never;
}[keyof paths];
type Operation<P extends keyof paths, M extends Method> = paths[P] extends Record<M, infer O> ? O : never;
type Json<T> = T extends { content: { 'application/json': infer V } } ? V : unknown;
/** What a path answers. */
export type Answer<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { responses: { 200: infer R } } ? Json<R> : unknown;
type Query<O> = O extends { parameters: { query?: infer Q } } ? Exclude<Q, undefined> : never;
type InPath<O> = O extends { parameters: { path: infer V } } ? V : never;
type Body<O> = O extends { requestBody?: infer B } ? Json<Exclude<B, undefined>> : never;
type Asked<O> = {
  headers?: Record<string, string>;
  signal?: AbortSignal;
} & ([Query<O>] extends [never] ? { query?: never } : { query?: Query<O> }) &
  ([InPath<O>] extends [never] ? { path?: never } : { path: InPath<O> }) &
  ([Body<O>] extends [never] ? { body?: never } : { body?: Body<O> });
/** What may be passed to a path. */
export type Wish<P extends keyof paths, M extends Method> = Asked<Operation<P, M>>;

export interface CodexmemOptions {
  /** Where the server is; `http://127.0.0.1:37877` unless said. */
  url?: string;
  /** The key, if the server asks for one. It is never sent in the clear to another machine. */
  key?: string;
  /** How long to wait for an answer; 30 seconds unless said. */
  timeoutMs?: number;
  /** What to use in place of the global `fetch`. */
  fetch?: typeof fetch;
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** One server. */
export class Codexmem {
  readonly url: string;
  readonly #key: string | undefined;
  readonly #timeoutMs: number;
  readonly #fetch: typeof fetch;

  constructor(options: CodexmemOptions = {}) {
    this.url = (options.url ?? 'http://127.0.0.1:37877').replace(/\/+$/, '');
    const { protocol, hostname } = new URL(this.url);
    if (options.key && protocol === 'http:' && !LOOPBACK.has(hostname)) {
      throw new CodexmemError('invalid_argument', `a key is not sent in the clear to ${hostname}; name it by https://`);
    }
    this.#key = options.key;
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
  }

  get<P extends PathOf<'get'>>(path: P, wish?: Wish<P, 'get'>): Promise<Answer<P, 'get'>> {
    return this.#ask('GET', path, wish) as Promise<Answer<P, 'get'>>;
  }

  post<P extends PathOf<'post'>>(path: P, wish?: Wish<P, 'post'>): Promise<Answer<P, 'post'>> {
    return this.#ask('POST', path, wish) as Promise<Answer<P, 'post'>>;
  }

  put<P extends PathOf<'put'>>(path: P, wish?: Wish<P, 'put'>): Promise<Answer<P, 'put'>> {
    return this.#ask('PUT', path, wish) as Promise<Answer<P, 'put'>>;
  }

  patch<P extends PathOf<'patch'>>(path: P, wish?: Wish<P, 'patch'>): Promise<Answer<P, 'patch'>> {
    return this.#ask('PATCH', path, wish) as Promise<Answer<P, 'patch'>>;
  }

  delete<P extends PathOf<'delete'>>(path: P, wish?: Wish<P, 'delete'>): Promise<Answer<P, 'delete'>> {
    return this.#ask('DELETE', path, wish) as Promise<Answer<P, 'delete'>>;
  }

  /** Save a text; with the same `once`, a repeated call saves it once. */
  remember(text: string, wish: { project?: string; title?: string; once?: string } = {}): Promise<Schemas['Saved']> {
    const { once, ...further } = wish;
    const headers = once === undefined ? {} : { 'Idempotency-Key': once };
    return this.post('/api/memory/save', { body: { text, ...further }, headers });
  }

  /** Memories that bear on a query, the best first. */
  async search(query: string, wish: { project?: string; limit?: number } = {}): Promise<Schemas['SearchRows']> {
    const found = await this.get('/api/search', { query: { ...wish, query, format: 'json' } });
    return found as Schemas['SearchRows'];
  }

  /** What the next session in a project would be given; with a prompt, what that would be given. */
  context(project: string, wish: { prompt?: string; tokens?: number } = {}): Promise<Schemas['ContextPreview']> {
    return this.get('/api/context/preview', { query: { ...wish, project } });
  }

  async #ask(method: string, path: string, wish: Partial<Record<keyof Asked<never>, unknown>> = {}): Promise<unknown> {
    const values = (wish.path ?? {}) as Record<string, unknown>;
    const named = path.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
    const headers: Record<string, string> = { ...(wish.headers as Record<string, string> | undefined) };
    if (this.#key) headers['Authorization'] = `Bearer ${this.#key}`;
    if (wish.body !== undefined) headers['Content-Type'] = 'application/json';
    const limit = AbortSignal.timeout(this.#timeoutMs);
    const given = wish.signal as AbortSignal | undefined;
    const init: RequestInit = {
      method,
      headers,
      redirect: 'error',
      signal: given ? AbortSignal.any([given, limit]) : limit,
    };
    if (wish.body !== undefined) init.body = JSON.stringify(wish.body);
    let reply: Response;
    let text: string;
    try {
      reply = await this.#fetch(`${this.url}${named}${asked(wish.query)}`, init);
      text = await reply.text();
    } catch (thrown) {
      throw thrownBy(thrown, given);
    }
    const body = document(text, reply);
    if (!reply.ok) throw errorOf(reply.status, body);
    return body;
  }
}

function document(text: string, reply: Response): unknown {
  if (!reply.headers.get('Content-Type')?.includes('json')) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new CodexmemError('bad_answer', `the server answered ${reply.status} with JSON that ends too early`);
  }
}

function asked(query: unknown): string {
  const made = new URLSearchParams();
  for (const [name, value] of Object.entries((query ?? {}) as Record<string, unknown>)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== null) made.append(name, String(each));
    }
  }
  return made.size ? `?${made}` : '';
}
