// The order of a list that a person arranges.

/** The same things with one of them moved by a step; a step over the end changes nothing. */
export function moved<T>(list: readonly T[], from: number, step: -1 | 1): T[] {
  const to = from + step;
  const after = [...list];
  const thing = after[from];
  const other = after[to];
  if (thing === undefined || other === undefined) return after;
  after[from] = other;
  after[to] = thing;
  return after;
}
