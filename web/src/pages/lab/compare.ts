// The runs of a batch beside each other: each property of an answer is a row, each run a column.

export type Flat = readonly (readonly [path: readonly string[], value: string])[];
export type CompareRow = { path: readonly string[]; values: readonly (string | null)[]; differs: boolean };

/** The leaves of an answer with their paths; the members of a list are numbered from 1. */
export function flat(value: unknown, path: readonly string[] = []): Flat {
  if (Array.isArray(value)) {
    if (value.every((each) => typeof each !== 'object' || each === null)) return [[path, value.join(', ')]];
    return value.flatMap((each, index) => flat(each, [...path, String(index + 1)]));
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([name, each]) => flat(each, [...path, name]));
  }
  return [[path, value === null || value === undefined ? '' : String(value)]];
}

/** The rows of all columns in the order in which they first appear; a column that lacks one has null there. */
export function rowsOf(columns: readonly (Flat | null)[]): CompareRow[] {
  const rows = new Map<string, { path: readonly string[]; values: (string | null)[] }>();
  columns.forEach((column, place) => {
    for (const [path, value] of column ?? []) {
      const key = path.join('\n');
      const row = rows.get(key) ?? { path, values: columns.map(() => null) };
      row.values[place] = value;
      rows.set(key, row);
    }
  });
  return [...rows.values()].map((row) => ({ ...row, differs: differ(row.values) }));
}

/** Whether not all are alike. */
export function differ(values: readonly (string | null)[]): boolean {
  return new Set(values).size > 1;
}
