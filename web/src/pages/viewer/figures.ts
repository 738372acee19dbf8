// Figures as bars and words: shares of a sum, and how long a bar may become.
import { localeTag } from '@/i18n';

export function percent(share: number, language: string): string {
  const digits = share > 0 && share < 0.1 ? 1 : 0;
  return new Intl.NumberFormat(localeTag(language), { style: 'percent', maximumFractionDigits: digits }).format(share);
}

export function decimal(value: number, language: string, digits = 2): string {
  return new Intl.NumberFormat(localeTag(language), { maximumFractionDigits: digits }).format(value);
}

/** Several things in a row, as the language lists them. */
export function listed(things: readonly string[], language: string): string {
  return new Intl.ListFormat(localeTag(language), { type: 'conjunction', style: 'narrow' }).format(things);
}

/**
 * The length that fills a bar: where nearly all bars would be slivers beside one giant, the giants are cut. Returns the
 * largest of all values, or a little more than the one that nine in ten stay below if that is much smaller.
 */
export function fullLength(values: readonly number[]): number {
  if (!values.length) return 0;
  const sorted = [...values].sort((a, b) => a - b);
  const largest = sorted.at(-1) ?? 0;
  const usual = sorted[Math.floor((sorted.length - 1) * 0.9)] ?? 0;
  return usual > 0 && largest > usual * 4 ? usual * 1.5 : largest;
}

export type Group = 'lexical' | 'vector' | 'boost';
export const GROUPS: readonly Group[] = ['lexical', 'vector', 'boost'];
export type Shares = Record<Group, number>;

/** What each group of factors adds to the sum, or takes from it. */
export function sharesOf(factors: readonly { group: Group; share: number }[]): Shares {
  const shares: Shares = { lexical: 0, vector: 0, boost: 0 };
  for (const { group, share } of factors) shares[group] += share;
  return shares;
}

export type Extent = { above: number; below: number };

/** How far bars reach to each side of zero, over all results, so that they can be compared. */
export function extentOf(all: readonly Shares[]): Extent {
  let above = 0;
  let below = 0;
  for (const shares of all) {
    above = Math.max(
      above,
      sumOf(shares, (share) => share > 0),
    );
    below = Math.max(below, -sumOf(shares, (share) => share < 0));
  }
  return { above, below };
}

export type Segment = { group: Group; start: number; length: number; negative: boolean };

/** The bar of one result in percent of the width: what speaks for it right of zero, what speaks against it left. */
export function segmentsOf(shares: Shares, { above, below }: Extent): Segment[] {
  const whole = above + below;
  if (whole <= 0) return [];
  const zero = (below / whole) * 100;
  let right = zero;
  let left = zero;
  const segments: Segment[] = [];
  for (const group of GROUPS) {
    const length = (Math.abs(shares[group]) / whole) * 100;
    if (length < 0.05) continue;
    const negative = shares[group] < 0;
    if (negative) left -= length;
    segments.push({ group, start: negative ? left : right, length, negative });
    if (!negative) right += length;
  }
  return segments;
}

function sumOf(shares: Shares, counts: (share: number) => boolean): number {
  return GROUPS.reduce((sum, group) => sum + (counts(shares[group]) ? shares[group] : 0), 0);
}

/** The points of a small line in a box, newest at the right; a flat line where nothing changed. */
export function sparkPoints(values: readonly number[], width: number, height: number): string {
  const most = Math.max(1, ...values);
  const step = values.length > 1 ? width / (values.length - 1) : width;
  return values
    .map((value, at) => `${(at * step).toFixed(1)},${(height - (value / most) * height).toFixed(1)}`)
    .join(' ');
}
