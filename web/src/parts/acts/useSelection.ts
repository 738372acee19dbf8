// Which rows of a list are selected. Shift selects everything from the last one on.
import { useCallback, useMemo, useRef, useState } from 'react';
import { MOST_AT_ONCE } from '@/api/life';

const NONE: ReadonlySet<number> = new Set();

/** The selection after a row was toggled; with `range`, all rows between it and the one toggled before are as it is. */
export function toggled(
  selected: ReadonlySet<number>,
  order: readonly number[],
  seq: number,
  last: number | null,
  range: boolean,
): ReadonlySet<number> {
  const next = new Set(selected);
  const on = !selected.has(seq);
  const [from, to] = [order.indexOf(last ?? -1), order.indexOf(seq)];
  const reached = range && from >= 0 && to >= 0 ? order.slice(Math.min(from, to), Math.max(from, to) + 1) : [seq];
  for (const each of reached) {
    if (on) next.add(each);
    else next.delete(each);
  }
  return next;
}

export function useSelection<T extends { seq: number }>(rows: readonly T[]) {
  const [chosen, setChosen] = useState(NONE);
  const last = useRef<number | null>(null);
  const latest = useRef(rows);
  latest.current = rows;
  const toggle = useCallback((row: T, range: boolean) => {
    const order = latest.current.map(({ seq }) => seq);
    const before = last.current;
    last.current = row.seq;
    setChosen((selected) => toggled(selected, order, row.seq, before, range));
  }, []);
  const all = useCallback(() => {
    last.current = null;
    setChosen(new Set(latest.current.slice(0, MOST_AT_ONCE).map(({ seq }) => seq)));
  }, []);
  const clear = useCallback(() => {
    last.current = null;
    setChosen(NONE);
  }, []);
  // What left the list is no longer selected: nobody acts on what is not to be seen.
  const selected = useMemo(() => rows.filter(({ seq }) => chosen.has(seq)), [rows, chosen]);
  return { selected, isSelected: (seq: number) => chosen.has(seq), toggle, all, clear };
}
