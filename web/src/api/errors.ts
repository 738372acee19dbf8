// One error for everything that can go wrong between page and server, whichever interface answered.
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly code: string,
    message: string,
    readonly status = 0,
    readonly hint: string | null = null,
    readonly details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
  }
}

// Most interfaces answer {"error": text} and say the kind of error by the status alone.
const BY_STATUS: Readonly<Record<number, string>> = {
  400: 'invalid_argument',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  409: 'conflict',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  421: 'misdirected',
  422: 'invalid_argument',
  429: 'rate_limited',
  431: 'headers_too_large',
  500: 'internal',
  503: 'dependency_unavailable',
  507: 'storage_full',
};

/** The error that an answer tells, in either of the server's styles. */
export function errorOf(status: number, body: unknown): ApiError {
  const told = isRecord(body) ? body['error'] : undefined;
  const code = BY_STATUS[status] ?? (status >= 500 ? 'internal' : 'unknown');
  if (isRecord(told)) {
    const details = isRecord(told['details']) ? told['details'] : {};
    const message = text(told['message']) ?? code;
    return new ApiError(text(told['code']) ?? code, message, status, text(details['hint']), details);
  }
  const hint = isRecord(body) ? text(body['hint']) : null;
  return new ApiError(code, text(told) ?? `HTTP ${status}`, status, hint, isRecord(body) ? body : {});
}

/** Anything thrown, as our error; what fetch throws means that nobody answered. */
export function asApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof TypeError) return new ApiError('unreachable', thrown.message);
  return new ApiError('unknown', thrown instanceof Error ? thrown.message : String(thrown));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value ? value : null;
}
