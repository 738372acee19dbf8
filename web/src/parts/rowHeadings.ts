// For VirtualRows: which rows are headings, and how a list stays in place when rows are put before those in view.
import { useLayoutEffect, useMemo, useReducer, useRef } from 'react';

type Headings = {
  has(index: number): boolean;
  /** The last heading at or before a row; -1 for none. */
  above(index: number): number;
  /** The row itself, or the next one in that direction that is no heading; the other way round at an end. */
  passing(index: number, step: 1 | -1): number;
};

/** Where the headings are, found once for each list and not for each look at it. */
export function useHeadings<T>(rows: readonly T[], isHeading: ((row: T) => boolean) | undefined): Headings {
  return useMemo(() => {
    const places: number[] = [];
    if (isHeading) rows.forEach((row, index) => isHeading(row) && places.push(index));
    return headingsAt(places, rows.length);
  }, [rows, isHeading]);
}

export function headingsAt(places: readonly number[], count: number): Headings {
  const known = new Set(places);
  const walk = (from: number, step: 1 | -1) => {
    let index = from;
    while (known.has(index)) index += step;
    return index >= 0 && index < count ? index : null;
  };
  return {
    has: (index) => known.has(index),
    above: (index) => {
      let low = 0;
      let high = places.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((places[middle] ?? 0) <= index) low = middle + 1;
        else high = middle;
      }
      return places[low - 1] ?? -1;
    },
    passing: (index, step) => walk(index, step) ?? walk(index, step === 1 ? -1 : 1) ?? index,
  };
}

type Scrolled = {
  scrollElement: HTMLElement | null;
  scrollOffset: number | null;
  scrollToOffset: (to: number) => void;
};

/** After rows were put before those there were, scrolls by their height, so that what is read does not move. */
export function useStayInPlace<T>(
  rows: readonly T[],
  keyOf: (row: T) => string,
  list: Scrolled,
  startOf: (index: number) => number,
  wanted: boolean,
) {
  const [, drawAgain] = useReducer((times: number) => times + 1, 0);
  const known = useRef<{ rows: readonly T[]; last: T | undefined; start: number }>(null);
  useLayoutEffect(() => {
    const former = known.current;
    const last = rows[rows.length - 1];
    const start = startOf(rows.length - 1);
    known.current = { rows, last, start };
    if (!wanted || !former?.last || !last || former.rows === rows || rows.length <= former.rows.length) return;
    // The same row is still the last one: then all that is new came before.
    if (keyOf(former.last) !== keyOf(last) || !list.scrollElement) return;
    // From where the box is, not from where the list thinks it is: a key may just have moved it.
    const to = list.scrollElement.scrollTop + start - former.start;
    list.scrollToOffset(to);
    // The rows of the new place are drawn before the old ones are seen there.
    list.scrollOffset = to;
    drawAgain();
  });
}
