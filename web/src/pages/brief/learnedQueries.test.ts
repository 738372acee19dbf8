import { describe, expect, it } from 'vitest';
import { dayNumber, dayText, levelOf, spanOf } from './learnedQueries';

describe('days of the calendar', () => {
  it('are numbered and written alike', () => {
    expect(dayText(dayNumber('2026-02-28') + 1)).toBe('2026-03-01');
  });
  it('begin and end by the clock that was asked for', () => {
    const { from, to } = spanOf('2026-11-18', '2026-11-18', 60);
    expect(new Date(Number(from)).toISOString()).toBe('2026-11-17T23:00:00.000Z');
    expect(new Date(Number(to)).toISOString()).toBe('2026-11-18T22:59:59.999Z');
  });
  it('are darker the more was learned, and never blank where something was', () => {
    expect([0, 1, 50, 51, 100].map((count) => levelOf(count, 100))).toEqual([0, 1, 2, 3, 4]);
  });
});
