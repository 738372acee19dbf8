// The server's words as sentences.
import { describe, expect, it } from 'vitest';
import { ApiError } from '@/api/errors';
import { ownWords, sentence } from './errorText';

describe('the words of the server', () => {
  it('are a sentence each', () => {
    const error = new ApiError('not_found', '99999 is not remembered', 404, 'write #123, S9 or P7');
    expect(ownWords(error)).toEqual(['99999 is not remembered.', 'Write #123, S9 or P7.']);
  });

  it('without a hint are one', () => {
    expect(ownWords(new ApiError('conflict', 'The name is taken.', 409))).toEqual(['The name is taken.']);
  });

  it.each([
    ['codexmem.db is full', 'codexmem.db is full.'],
    ['project://config is taken', 'project://config is taken.'],
    ['try again…', 'Try again…'],
  ])('keep names as they are: %s', (words, told) => expect(sentence(words)).toBe(told));
});
