// The open part of the tree as flat rows, so that any number of them can be shown and walked through.
import { VIEWS } from './addresses';
import type { NotePlace } from './queries';
import { ROOT, type Branch } from './useBranches';

export const SYSTEM = 'system://';

export type TreeRow = {
  key: string;
  /** place: an address; views: the domain of views; view: one of them; more, wait, failed: the state of a branch. */
  kind: 'place' | 'views' | 'view' | 'more' | 'wait' | 'failed';
  uri: string;
  name: string;
  level: number;
  position: number;
  siblings: number;
  expanded: boolean | null; // null: nothing lies below
  parent: string | null; // key of the row above it in the tree
  place: NotePlace | null;
};

export function treeRows(branches: ReadonlyMap<string, Branch>, open: ReadonlySet<string>): TreeRow[] {
  const rows: TreeRow[] = [];
  branch(ROOT, 1, null);
  return rows;

  function branch(prefix: string, level: number, parent: string | null) {
    const found = branches.get(prefix);
    const places = found?.places ?? [];
    const state = standing(found);
    const siblings = places.length + (state ? 1 : 0) + (level === 1 ? 1 : 0);
    const shared = { level, parent, siblings, place: null, expanded: null };
    places.forEach((place, index) => {
      const name = level === 1 ? place.uri : place.name;
      const expanded = place.has_children ? open.has(place.uri) : null;
      const { uri } = place;
      rows.push({ ...shared, key: uri, kind: 'place', uri, name, position: index + 1, expanded, place });
      if (expanded) branch(uri, level + 1, uri);
    });
    if (state) {
      const position = places.length + 1;
      rows.push({ ...shared, key: `${prefix} ${state}`, kind: state, uri: prefix, name: '', position });
    }
    if (level === 1) views(siblings);
  }

  function views(siblings: number) {
    const expanded = open.has(SYSTEM);
    const domain = { level: 1, position: siblings, siblings, expanded, parent: null, place: null };
    rows.push({ ...domain, key: SYSTEM, kind: 'views', uri: SYSTEM, name: SYSTEM });
    if (!expanded) return;
    VIEWS.forEach((uri, index) => {
      const one = { level: 2, siblings: VIEWS.length, expanded: null, parent: SYSTEM, place: null };
      rows.push({ ...one, key: uri, kind: 'view', uri, name: uri.slice(SYSTEM.length), position: index + 1 });
    });
  }
}

/** What has to be said after what is there of a branch. */
function standing(branch: Branch | undefined): 'wait' | 'failed' | 'more' | null {
  if (!branch || (branch.loading && !branch.places.length)) return 'wait';
  if (branch.error) return 'failed';
  return branch.next ? 'more' : null;
}

/** Where a key of the keyboard leads in the tree: another row, or opening or closing this one. */
export function step(rows: readonly TreeRow[], at: number, key: string): number | 'open' | 'close' | null {
  const row = rows[at];
  if (!row) return null;
  switch (key) {
    case 'ArrowDown':
      return Math.min(at + 1, rows.length - 1);
    case 'ArrowUp':
      return Math.max(at - 1, 0);
    case 'Home':
      return 0;
    case 'End':
      return rows.length - 1;
    case 'ArrowRight':
      if (row.expanded === false) return 'open';
      return row.expanded ? Math.min(at + 1, rows.length - 1) : at;
    case 'ArrowLeft': {
      if (row.expanded) return 'close';
      const parent = rows.findIndex((each) => each.key === row.parent);
      return parent < 0 ? at : parent;
    }
    default:
      return null;
  }
}

/** The next row whose name begins with what was typed; a letter typed again goes on to the one after. */
export function typed(rows: readonly TreeRow[], at: number, text: string): number | null {
  const wanted = text.toLocaleLowerCase();
  const same = [...wanted].every((each) => each === wanted[0]);
  const sought = same ? (wanted[0] ?? '') : wanted;
  const first = same ? at + 1 : at;
  for (let offset = 0; offset < rows.length; offset += 1) {
    const index = (first + offset) % rows.length;
    if (rows[index]?.name.toLocaleLowerCase().startsWith(sought)) return index;
  }
  return null;
}
