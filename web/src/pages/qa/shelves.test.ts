import { describe, expect, it } from 'vitest';
import { afterSkipping, freshOf, neighbourOf, nextPlace, parsePlace, progressOf, shelfOf, STATUSES } from './shelves';

describe('one list through several statuses', () => {
  it('goes on within a status, then with the next one, then ends', () => {
    const statuses = STATUSES.expired.length;
    const first = parsePlace(null);
    expect(first).toEqual({ index: 0, after: null });
    const second = nextPlace(first, '17.4', statuses);
    expect(parsePlace(second)).toEqual({ index: 0, after: '17.4' });
    const third = nextPlace(parsePlace(second), null, statuses);
    expect(parsePlace(third)).toEqual({ index: 1, after: null });
    expect(nextPlace(parsePlace(third), null, statuses)).toBeNull();
  });

  it('knows the shelf of each status', () => {
    const shelves = [shelfOf('candidate'), shelfOf('active'), shelfOf('deprecated')];
    expect(shelves).toEqual(['candidate', 'validated', 'expired']);
    expect(shelfOf('deleted')).toBeNull();
  });
});

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

describe('what was handed in meanwhile', () => {
  it('is what waits beyond the list, whatever was decided here', () => {
    expect(freshOf(5, 5, 0)).toBe(0);
    expect(freshOf(6, 5, 0)).toBe(1);
    expect(freshOf(4, 5, 1)).toBe(0);
    expect(freshOf(6, 5, 1)).toBe(2);
  });

  it('is nothing where something was decided elsewhere, or nothing is known', () => {
    expect([freshOf(3, 5, 0), freshOf(null, 5, 0), freshOf(3, null, 0)]).toEqual([0, 0, 0]);
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
