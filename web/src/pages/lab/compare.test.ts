import { expect, it } from 'vitest';
import { flat, rowsOf } from './compare';

it('marks what differs, also what only one run has', () => {
  const one = flat({ recipes: [{ M1: 'Cu', M2: 'Mo' }], notes: 'x' });
  const other = flat({ recipes: [{ M1: 'Cu', M2: 'Ni' }, { M1: 'Ag' }] });
  expect(rowsOf([one, other])).toEqual([
    { path: ['recipes', '1', 'M1'], values: ['Cu', 'Cu'], differs: false },
    { path: ['recipes', '1', 'M2'], values: ['Mo', 'Ni'], differs: true },
    { path: ['notes'], values: ['x', null], differs: true },
    { path: ['recipes', '2', 'M1'], values: [null, 'Ag'], differs: true },
  ]);
});

it('keeps a list of words together', () => {
  expect(flat({ tags: ['a', 'b'], none: null })).toEqual([
    [['tags'], 'a, b'],
    [['none'], ''],
  ]);
});
