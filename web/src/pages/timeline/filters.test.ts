import { describe, expect, it } from 'vitest';
import { NO_FACETS } from '@/parts/facets';
import { filtersOf, memoryNumber, momentOf, UNFILTERED } from './filters';

describe('days of the filter', () => {
  it('are passed on as days in UTC', () => {
    expect(momentOf('2026-02-18', 'utc', true)).toBe('2026-02-18');
  });

  it('begin and end by the local clock', () => {
    const first = Number(momentOf('2026-02-18', 'local', false));
    expect(first).toBe(new Date(2026, 1, 18).getTime());
    expect(Number(momentOf('2026-02-18', 'local', true))).toBe(new Date(2026, 1, 19).getTime() - 1);
  });

  it('leave other times alone', () => {
    expect(momentOf('1700000000', 'local', true)).toBe('1700000000');
  });

  it('ask for no kind where all are wanted', () => {
    const asked = { ...UNFILTERED, labels: NO_FACETS };
    expect(filtersOf(asked, 'utc')).toEqual({ project: '', kind: null, from: '', to: '', labels: NO_FACETS });
  });
});

describe('anchors', () => {
  it('name memories in any spelling, or times', () => {
    expect(['#12', '12', 'P7', '#S9'].map(memoryNumber)).toEqual([12, 12, 7, 9]);
    expect(['', '2026-02-18', 'project://x'].map(memoryNumber)).toEqual([null, null, null]);
  });
});
