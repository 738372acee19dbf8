import { expect, test } from 'vitest';
import type { Product } from '@/api/catalog';
import { EMPTY, filled, formOf, numberOf, problemsOf, requestOf, rowOf, sound, valuesOf, type Form } from './opinion';

function product(id: string, status: 'active' | 'archived' = 'active'): Product {
  return { product_id: id, name: id.toUpperCase(), status, created_at: 0, updated_at: 0, schema_version: 1, extra: {} };
}

const row = (id: string, value: string) => ({ ...rowOf(product(id)), value });

test('what counts as a number', () => {
  const written = ['12.3', ' 4 ', '１２．５', '.5', '1e-3', '-2', '+7'];
  expect(written.map(numberOf)).toEqual([12.3, 4, 12.5, 0.5, 0.001, -2, 7]);
  expect(['', 'x', '1,5', '1 2', 'Infinity', 'NaN', '1e999', '0x10'].map(numberOf)).toEqual(Array(8).fill(null));
});

test('problems are told field by field', () => {
  const form: Form = {
    ...EMPTY,
    score: 'good',
    rows: [row('a', ''), row('b', '-1'), row('c', 'x'), row('d', '2'), row('e', '1e301')],
    cons: 'x'.repeat(20_001),
  };
  const problems = problemsOf(form);
  expect(problems.score).toBe('number');
  expect(problems.values).toEqual({ a: 'missing', b: 'negative', c: 'number', e: 'range' });
  expect(problems.words).toEqual({ cons: 'tooLong' });
  expect(sound(problems)).toBe(false);
  expect(problemsOf({ ...EMPTY, score: '1000001' }).score).toBe('range');
  expect(problemsOf(EMPTY).nothing).toBe(true);
  expect(sound(problemsOf({ ...EMPTY, score: '7.5', rows: [row('a', '0')] }))).toBe(true);
  expect(valuesOf(form)).toEqual([0, 0, 0, 2, 0]);
});

test('a preset comes first and in order; values stay, empty rows go', () => {
  const rows = [row('x', ''), row('b', '2'), row('y', '3')];
  const after = filled(rows, [product('a'), product('b'), product('old', 'archived')]);
  expect(after.map(({ productId, value }) => [productId, value])).toEqual([
    ['a', ''],
    ['b', '2'],
    ['y', '3'],
  ]);
});

test('what is sent says what the form says', () => {
  const sent = requestOf({ score: '7.5', rows: [row('a', '12.3')], pros: 'p', cons: '', other: '' });
  expect(sent).toMatchObject({ score: 7.5, pros: 'p', products: [{ product_id: 'a', value: 12.3 }] });
  expect(requestOf(EMPTY).score).toBeNull();
  expect(formOf(null)).toEqual(EMPTY);
});
