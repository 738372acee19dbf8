// What each error code of the server means to a person, and what to do next.
export default {
  invalid_argument: { what: 'The server did not accept the request', next: 'Change what you entered and try again.' },
  unauthorized: { what: 'The server requires an API key', next: 'Enter a valid key.' },
  forbidden: {
    what: 'The server refused the request',
    next: 'Open the application at the address that the server printed.',
  },
  not_found: { what: 'Not found', next: 'It may have been deleted, or the address is wrong.' },
  method_not_allowed: {
    what: 'The server does not support this',
    next: 'Server and page may have different versions; reload the page.',
  },
  request_timeout: { what: 'The request took too long to arrive', next: 'Try again.' },
  conflict: {
    what: 'It was changed in the meantime, or the name is taken',
    next: 'Reload the page, then repeat your change.',
  },
  payload_too_large: { what: 'The content is too large', next: 'Shorten it.' },
  unsupported_media_type: { what: 'The server did not understand the format', next: 'Reload the page.' },
  misdirected: {
    what: 'The server does not accept this address',
    next: 'Use the address that the server printed, or add the name to its allowed hosts.',
  },
  rate_limited: { what: 'Too many requests', next: 'Wait a moment, then try again.' },
  headers_too_large: { what: 'The address is too long', next: 'Shorten the filters.' },
  internal: { what: 'The server failed', next: 'Try again. See the server’s log for details.' },
  dependency_unavailable: {
    what: 'A service that the server depends on is not responding',
    next: 'Try again in a moment, or run: codexmem doctor',
  },
  not_ready: { what: 'The server is not ready yet', next: 'Try again in a moment.' },
  storage_full: { what: 'The disk is full', next: 'Free some space; nothing was lost.' },
  unreachable: { what: 'The server cannot be reached', next: 'Start it with: codexmem serve' },
  unknown: { what: 'Something went wrong', next: 'Try again.' },
};
