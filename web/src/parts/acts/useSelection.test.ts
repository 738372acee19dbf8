import { describe, expect, it } from 'vitest';
import { toggled } from './useSelection';

describe('selecting rows', () => {
  const order = [9, 7, 5, 3];
  const none = new Set<number>();
  it('takes one at a time', () => {
    expect([...toggled(none, order, 7, null, false)]).toEqual([7]);
    expect([...toggled(new Set([7]), order, 7, 7, false)]).toEqual([]);
  });
  it('takes all from the last one on, in either direction', () => {
    expect([...toggled(new Set([9]), order, 5, 9, true)].sort()).toEqual([5, 7, 9]);
    expect([...toggled(new Set([3]), order, 7, 3, true)].sort()).toEqual([3, 5, 7]);
  });
  it('leaves out all where the last one is left out', () => {
    expect([...toggled(new Set(order), order, 5, 9, true)]).toEqual([3]);
  });
  it('takes the one alone where the last is no longer there', () => {
    expect([...toggled(none, order, 5, 100, true)]).toEqual([5]);
  });
});
