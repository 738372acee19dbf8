// Every style of refusal becomes one error.
import { describe, expect, it } from 'vitest';
import { ApiError, asApiError, errorOf } from './errors';

describe('errors of the server', () => {
  it('in the plain style', () => {
    const error = errorOf(404, { error: 'no such path', hint: 'look elsewhere' });
    const told = [error.code, error.message, error.hint, error.status];
    expect(told).toEqual(['not_found', 'no such path', 'look elsewhere', 404]);
  });

  it('in an envelope', () => {
    const told = { code: 'conflict', message: 'changed', details: { hint: 'again', seen: 3 } };
    const error = errorOf(409, { error: told });
    expect([error.code, error.message, error.hint, error.details['seen']]).toEqual(['conflict', 'changed', 'again', 3]);
  });

  it('without any words', () => {
    expect(errorOf(502, null).code).toBe('internal');
    expect(errorOf(418, '<html>').message).toBe('HTTP 418');
  });

  it('where nobody answers', () => {
    expect(asApiError(new TypeError('Failed to fetch')).code).toBe('unreachable');
    expect(asApiError('odd')).toBeInstanceOf(ApiError);
  });
});
