import { describe, expect, it } from 'vitest';
import { afterSkipping, neighbourOf, progressOf } from './queuePlace';

describe('what comes next', () => {
  const ids = ['a', 'b', 'c'];

  it('is the item below one that leaves, at the end the one above', () => {
    expect(neighbourOf(ids, 'a')).toBe('b');
    expect(neighbourOf(ids, 'c')).toBe('b');
    expect(neighbourOf(['a'], 'a')).toBeNull();
    expect(neighbourOf(ids, 'elsewhere')).toBe('a');
  });

  it('begins anew after the last that was passed over', () => {
    expect(afterSkipping(ids, 'a')).toBe('b');
    expect(afterSkipping(ids, 'c')).toBe('a');
    expect(afterSkipping([], 'a')).toBeNull();
  });
});

describe('progress', () => {
  it('grows with each decision and each step', () => {
    expect(progressOf(['a', 'b', 'c'], 'a', 0, 3)).toEqual({ position: 1, total: 3 });
    expect(progressOf(['b', 'c'], 'b', 1, 3)).toEqual({ position: 2, total: 3 });
    expect(progressOf(['b', 'c'], 'c', 1, 3)).toEqual({ position: 3, total: 3 });
  });

  it('is not told of an item that is not in the list', () => {
    expect(progressOf(['b'], 'x', 0, 1)).toBeNull();
  });

  it('never tells fewer than are there', () => {
    expect(progressOf(['a', 'b'], 'b', 0, 1)).toEqual({ position: 2, total: 2 });
  });
});
