import { describe, expect, it } from 'vitest';
import { Grouping, itemsOf, type Item } from './days';
import type { Row } from './queries';

const HOUR = 3_600_000;
const NOON = Date.UTC(2026, 1, 18, 12);

function row(seq: number, hoursAgo: number, sessionKey: string | null): Row {
  return {
    ref: `#${seq}`,
    seq,
    kind: 'observation',
    type: '',
    title: '',
    snippet: '',
    created_ms: NOON - hoursAgo * HOUR,
    project: '',
    session: null,
    sessionKey,
    score: null,
    life: 'active',
    marks: [],
    origin: 'agent',
  };
}

function shape(items: Item[]): string[] {
  return items.map((item) =>
    item.heading ? 'day' : `${item.begins ? '[' : ''}${item.row.seq}${item.ends ? ']' : ''}`,
  );
}

describe('grouping', () => {
  const rows = [
    row(9, 0, 'a'),
    row(8, 1, 'a'),
    row(7, 2, 'b'),
    row(6, 3, 'a'),
    row(5, 20, 'a'),
    row(4, 21, null),
    row(3, 22, null),
  ];

  it('puts a heading before each day and joins neighbours of one session', () => {
    const items = itemsOf(rows, undefined, undefined, 'utc');
    expect(shape(items)).toEqual(['day', '[9', '8]', '[7]', '[6]', 'day', '[5]', '[4]', '[3]']);
  });

  it('gives the same for any way the rows came in pages, and keeps what it made of a page', () => {
    const whole = shape(itemsOf(rows, undefined, undefined, 'utc'));
    for (let cut = 0; cut <= rows.length; cut += 1) {
      const grouping = new Grouping();
      const pages = [rows.slice(0, cut), [], rows.slice(cut)];
      expect(shape(grouping.of(pages, 'utc'))).toEqual(whole);
      const first = grouping.of(pages, 'utc')[0];
      expect(grouping.of(pages, 'utc')[0]).toBe(first);
    }
  });

  it('goes by the clock that was chosen', () => {
    const late = [row(2, 12.5, 'a'), row(1, 13, 'a')]; // 23:30 and 23:00 the day before
    expect(shape(itemsOf([row(3, 11, 'a'), ...late], undefined, undefined, 'utc'))).toEqual([
      'day',
      '[3]',
      'day',
      '[2',
      '1]',
    ]);
  });
});
