import { describe, expect, it } from 'vitest';
import { freshOf, nextPlace, parsePlace, shelfOf, STATUSES } from './shelves';

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
