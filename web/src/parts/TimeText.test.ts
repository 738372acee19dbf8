// @vitest-environment happy-dom
import { expect, it } from 'vitest';
import { countedFrom, timeAgo } from './TimeText';

it('what happened since the last tick is not in the future', () => {
  const tick = 1_000_000;
  const said = (at: number, current: number) => timeAgo(at, countedFrom(at, tick, current), 'en');
  expect(said(tick + 12_000, tick + 13_000)).toBe('now');
  expect(said(tick + 2_000, tick + 13_000)).toBe('11 sec. ago');
  expect(said(tick - 60_000, tick + 13_000)).toBe('1 min. ago');
  expect(said(tick + 3_600_000, tick + 13_000)).toBe('in 59 min.');
});
