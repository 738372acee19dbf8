// Where a person is in a list that is worked through. Pure.

/** What comes after an item that leaves the list: the one below it, else the one above, else nothing. */
export function neighbourOf(ids: readonly string[], id: string): string | null {
  const at = ids.indexOf(id);
  if (at < 0) return ids[0] ?? null;
  return ids[at + 1] ?? ids[at - 1] ?? null;
}

/** What comes after an item that is passed over: after the last, the first again. */
export function afterSkipping(ids: readonly string[], id: string): string | null {
  return ids[ids.indexOf(id) + 1] ?? ids[0] ?? null;
}

/** "3 of 12": what was decided here counts, so that the number grows with the work. */
export function progressOf(ids: readonly string[], id: string, decided: number, total: number) {
  const at = ids.indexOf(id);
  return at < 0 ? null : { position: decided + at + 1, total: Math.max(total, decided + ids.length) };
}
