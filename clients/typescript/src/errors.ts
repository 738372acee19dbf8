/** What goes wrong between a program and the server, with the server's own code where there is one. */
export class CodexmemError extends Error {
  override readonly name = 'CodexmemError';

  constructor(
    /** What it is, for programs: `not_found`, `unauthorized`, `unreachable`, `timeout` … */
    readonly code: string,
    message: string,
    /** Of HTTP; 0 if no answer came. */
    readonly status = 0,
    /** What to do about it, if the server knows. */
    readonly hint: string | null = null,
  ) {
    super(message);
  }
}

// Where an interface answers {"error": text}, the status alone says what it is.
const BY_STATUS: Readonly<Record<number, string>> = {
  400: 'invalid_argument',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  413: 'payload_too_large',
  422: 'invalid_argument',
  429: 'rate_limited',
  503: 'dependency_unavailable',
  507: 'storage_full',
};

/** The error that an answer tells, in either of the server's forms. */
export function errorOf(status: number, body: unknown): CodexmemError {
  const outer = record(body);
  const inner = record(outer['error']);
  const code = BY_STATUS[status] ?? (status >= 500 ? 'internal' : 'unknown');
  const message = text(inner['message']) ?? text(outer['error']) ?? text(outer['detail']) ?? `HTTP ${status}`;
  return new CodexmemError(text(inner['code']) ?? code, message, status, text(inner['hint']) ?? text(outer['hint']));
}

/** What `fetch` threw; a person's own abort is passed on as it is. */
export function thrownBy(thrown: unknown, given: AbortSignal | undefined): unknown {
  if (given?.aborted) return thrown;
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  if (thrown instanceof Error && thrown.name === 'TimeoutError') return new CodexmemError('timeout', said);
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? `: ${thrown.cause.message}` : '';
  return new CodexmemError('unreachable', `${said}${cause}`, 0, 'start the server: codexmem start');
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value ? value : null;
}
