// The tree as rows: order, levels, and where keys lead.
import { describe, expect, it } from 'vitest';
import type { NotePlace } from './queries';
import { step, treeRows, typed } from './treeRows';
import type { Branch } from './useBranches';

function place(uri: string, has_children = false): NotePlace {
  const name = uri.replace(/^.*\//, '') || uri;
  return { uri, name, has_children, seq: 1, priority: 5, status: 'active', version: 1, updated_ms: 1, alias_of: null };
}

function branch(places: NotePlace[], change: Partial<Branch> = {}): Branch {
  return { places, next: null, loading: false, error: null, ...change };
}

const BRANCHES = new Map([
  ['', branch([place('core://', true), place('project://', true)])],
  ['project://', branch([place('project://alpha'), place('project://beta', true)], { next: 'c' })],
]);
const rows = treeRows(BRANCHES, new Set(['project://']));

describe('the tree', () => {
  it('lists what is open, in its order, with the views last', () => {
    expect(rows.map((row) => [row.level, row.kind, row.name])).toEqual([
      [1, 'place', 'core://'],
      [1, 'place', 'project://'],
      [2, 'place', 'alpha'],
      [2, 'place', 'beta'],
      [2, 'more', ''],
      [1, 'views', 'system://'],
    ]);
    expect(rows.map((row) => `${row.position}/${row.siblings}`)).toEqual(['1/3', '2/3', '1/3', '2/3', '3/3', '3/3']);
  });

  it('says what is on its way and what failed', () => {
    const known = (each: Branch | null) => new Map(each ? [['', each]] : []);
    const kinds = (each: Branch | null) => treeRows(known(each), new Set()).map((row) => row.kind);
    expect(kinds(null)).toEqual(['wait', 'views']);
    expect(kinds(branch([], { loading: true }))).toEqual(['wait', 'views']);
    expect(kinds(branch([], { error: new Error() }))).toEqual(['failed', 'views']);
    expect(kinds(branch([]))).toEqual(['views']);
  });

  it('is walked by keys', () => {
    const leads = (key: string, ...from: number[]) => from.map((at) => step(rows, at, key));
    expect(leads('ArrowDown', 0, 5)).toEqual([1, 5]);
    expect(leads('ArrowUp', 0, 2)).toEqual([0, 1]);
    expect([...leads('Home', 2), ...leads('End', 2)]).toEqual([0, 5]);
    expect(leads('ArrowRight', 0, 1, 2)).toEqual(['open', 2, 2]);
    expect(leads('ArrowLeft', 1, 3, 0)).toEqual(['close', 1, 0]);
    expect(leads('x', 0)).toEqual([null]);
  });

  it('is searched by typing', () => {
    expect([typed(rows, 0, 'b'), typed(rows, 3, 'b')]).toEqual([3, 3]);
    expect([typed(rows, 0, 'al'), typed(rows, 0, 'zz')]).toEqual([2, null]);
  });
});
