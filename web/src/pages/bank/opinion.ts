// The feedback form: what stands in it, what the server would refuse, and what is sent.
import type { Product } from '@/api/catalog';
import type { Feedback, FeedbackRequest } from './queries';

export const LIMITS = { score: 1_000_000, value: 1e300, words: 20_000, products: 200 } as const;
export const WORDS = ['pros', 'cons', 'other'] as const;
export type WordsName = (typeof WORDS)[number];

export type Row = { productId: string; name: string; archived: boolean; value: string };
export type Form = { score: string; rows: readonly Row[] } & Record<WordsName, string>;
export type Problem = 'number' | 'range' | 'missing' | 'negative' | 'tooLong';
export type Problems = {
  score?: Problem;
  words: Partial<Record<WordsName, Problem>>;
  /** By product. */
  values: Record<string, Problem>;
  /** There is nothing to save. */
  nothing: boolean;
};

export const EMPTY: Form = { score: '', rows: [], pros: '', cons: '', other: '' };

/** The form that says what was said before. */
export function formOf(feedback: Feedback | null): Form {
  if (!feedback) return EMPTY;
  const { score, pros, cons, other, products } = feedback;
  return {
    score: score === null ? '' : String(score),
    rows: products.map((each) => ({
      productId: each.product_id,
      name: each.product_name,
      archived: each.product_status === 'archived',
      value: String(each.value),
    })),
    pros,
    cons,
    other,
  };
}

/** What a person wrote as a number; digits of any width. Null where it is none. */
export function numberOf(written: string): number | null {
  const plain = written.normalize('NFKC').trim();
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(plain)) return null;
  const value = Number(plain);
  return Number.isFinite(value) ? value : null;
}

export function problemsOf(form: Form): Problems {
  const found: Problems = { words: {}, values: {}, nothing: false };
  if (form.score.trim()) {
    const score = numberOf(form.score);
    if (score === null) found.score = 'number';
    else if (Math.abs(score) > LIMITS.score) found.score = 'range';
  }
  for (const { productId, value } of form.rows) {
    const problem = problemOfValue(value);
    if (problem) found.values[productId] = problem;
  }
  for (const name of WORDS) if ([...form[name]].length > LIMITS.words) found.words[name] = 'tooLong';
  found.nothing = !form.score.trim() && !form.rows.length && WORDS.every((name) => !form[name].trim());
  return found;
}

function problemOfValue(written: string): Problem | null {
  if (!written.trim()) return 'missing';
  const value = numberOf(written);
  if (value === null) return 'number';
  if (value < 0) return 'negative';
  return value > LIMITS.value ? 'range' : null;
}

export function sound(problems: Problems): boolean {
  const { score, words, values, nothing } = problems;
  return !nothing && !score && !Object.keys(words).length && !Object.keys(values).length;
}

/** The values as far as they are numbers; what is not yet one counts as 0 in the preview. */
export function valuesOf(form: Form): number[] {
  return form.rows.map(({ value }) => (problemOfValue(value) ? 0 : (numberOf(value) ?? 0)));
}

/** What is sent. Only for a form without problems. */
export function requestOf(form: Form): FeedbackRequest {
  return {
    score: form.score.trim() ? numberOf(form.score) : null,
    pros: form.pros,
    cons: form.cons,
    other: form.other,
    products: form.rows.map(({ productId, value }) => ({ product_id: productId, value: numberOf(value) ?? 0 })),
    schema_version: 1,
    extra: {},
  };
}

export function rowOf(product: Product): Row {
  return { productId: product.product_id, name: product.name, archived: product.status === 'archived', value: '' };
}

/** The products of a preset in its order, then others that have a value. Values that stand already stay. */
export function filled(rows: readonly Row[], products: readonly Product[]): Row[] {
  const standing = new Map(rows.map((row) => [row.productId, row]));
  const chosen = products.filter((each) => each.status === 'active' || standing.has(each.product_id));
  const first = chosen.map((each) => standing.get(each.product_id) ?? rowOf(each));
  const named = new Set(first.map((row) => row.productId));
  return [...first, ...rows.filter((row) => !named.has(row.productId) && row.value.trim())].slice(0, LIMITS.products);
}

/** Whether the two would say the same. */
export function same(one: Form, other: Form): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
