import { expect, test } from 'vitest';
import { exactSum, fractions } from './fractions';

test('the part of the whole that each value is', () => {
  expect(fractions([12.3, 4.5])).toEqual([12.3 / 16.8, 4.5 / 16.8]);
  expect(fractions([])).toEqual([]);
  expect(fractions([5])).toEqual([1]);
});

test('where nothing was made, every part is 0', () => {
  expect(fractions([0, 0])).toEqual([0, 0]);
});

test('the sum is rounded once', () => {
  expect(exactSum(Array<number>(10).fill(0.1))).toBe(1);
  expect(exactSum([1e16, 1, 1e-16])).toBe(10_000_000_000_000_002);
  expect(exactSum([1e300, 1, 1, -1e300])).toBe(2);
  expect(exactSum([1e300, 1e300])).toBe(2e300);
});
