// The timeline's rows under headings of their days, and which of them belong to one stretch of a session.
import type { Row } from './queries';

export type Clock = 'local' | 'utc';
export type DayItem = { heading: true; key: string; at: number };
export type MemoryItem = {
  heading: false;
  key: string;
  row: Row;
  /** First and last of neighbours that came of the same session on the same day. */
  begins: boolean;
  ends: boolean;
};
export type Item = DayItem | MemoryItem;

/** A number for the day of a moment, the same for all of its moments. */
export function dayOf(at: number, clock: Clock): number {
  const date = new Date(at);
  return clock === 'utc'
    ? date.getUTCFullYear() * 10_000 + date.getUTCMonth() * 100 + date.getUTCDate()
    : date.getFullYear() * 10_000 + date.getMonth() * 100 + date.getDate();
}

function together(one: Row | undefined, other: Row | undefined, clock: Clock): boolean {
  if (!one || !other || one.sessionKey === null || one.sessionKey !== other.sessionKey) return false;
  return dayOf(one.created_ms, clock) === dayOf(other.created_ms, clock);
}

/** The items of one page, given the rows just before and after it. */
export function itemsOf(rows: readonly Row[], before: Row | undefined, after: Row | undefined, clock: Clock): Item[] {
  const items: Item[] = [];
  rows.forEach((row, index) => {
    const above = index ? rows[index - 1] : before;
    const below = index < rows.length - 1 ? rows[index + 1] : after;
    const day = dayOf(row.created_ms, clock);
    if (!above || dayOf(above.created_ms, clock) !== day)
      items.push({ heading: true, key: `day ${day}`, at: row.created_ms });
    const [begins, ends] = [!together(above, row, clock), !together(row, below, clock)];
    items.push({ heading: false, key: row.ref, row, begins, ends });
  });
  return items;
}

type Made = { before: Row | undefined; after: Row | undefined; clock: Clock; items: Item[] };

/** Items of all pages. What was made of a page is kept with it, so that another page costs its own length. */
export class Grouping {
  private readonly made = new WeakMap<readonly Row[], Made>();

  of(pages: readonly (readonly Row[])[], clock: Clock): Item[] {
    const filled = pages.filter((page) => page.length > 0);
    return filled.flatMap((page, index) => {
      const before = filled[index - 1]?.at(-1);
      const after = filled[index + 1]?.[0];
      const known = this.made.get(page);
      if (known && known.before === before && known.after === after && known.clock === clock) return known.items;
      const items = itemsOf(page, before, after, clock);
      this.made.set(page, { before, after, clock, items });
      return items;
    });
  }
}
