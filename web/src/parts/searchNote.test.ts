import { expect, it } from 'vitest';
import { meaningOf } from './searchNote';

it('knows what the server says, and gives the reason on', () => {
  expect(meaningOf('no embedder is configured: words only')).toEqual({ key: 'noEmbedder', reason: '' });
  expect(meaningOf('no vectors: Chroma does not answer')).toEqual({
    key: 'silent',
    reason: 'Chroma does not answer',
  });
  expect(meaningOf('not reranked: too slow')).toEqual({ key: 'notReranked', reason: 'too slow' });
  expect(meaningOf('something new')).toBeNull();
});
