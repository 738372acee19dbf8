import { describe, expect, it } from 'vitest';
import { headingsAt } from './rowHeadings';

describe('headings of a list', () => {
  const headings = headingsAt([0, 3, 4, 9], 10);

  it('finds the last heading at or before a row', () => {
    expect([0, 1, 3, 4, 8, 9].map((index) => headings.above(index))).toEqual([0, 0, 3, 4, 4, 9]);
    expect(headingsAt([2], 5).above(1)).toBe(-1);
  });

  it('passes over headings in the direction of the move, and turns round at an end', () => {
    expect(headings.passing(3, 1)).toBe(5);
    expect(headings.passing(4, -1)).toBe(2);
    expect(headings.passing(0, -1)).toBe(1);
    expect(headings.passing(9, 1)).toBe(8);
    expect(headings.passing(6, 1)).toBe(6);
  });
});
