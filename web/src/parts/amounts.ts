// Amounts as a person says them: bytes, and how long something has been going on.
import { localeTag } from '@/i18n';

const SIZES = [
  ['byte', 1],
  ['kilobyte', 1e3],
  ['megabyte', 1e6],
  ['gigabyte', 1e9],
  ['terabyte', 1e12],
] as const;
const TIMES = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

function inUnit(value: number, unit: string, digits: number, language: string): string {
  const format = { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: digits } as const;
  return new Intl.NumberFormat(localeTag(language), format).format(value);
}

/** "412 byte", "82 kB", "1.4 GB". */
export function bytesText(bytes: number, language: string): string {
  const [unit, size] = SIZES.findLast(([, each]) => bytes >= each) ?? SIZES[0];
  const value = bytes / size;
  return inUnit(value, unit, value < 10 && size > 1 ? 1 : 0, language);
}

/** "3 days 2 hr", "41 min", "12 sec": at most two units. */
export function spanText(seconds: number, language: string): string {
  const whole = Math.max(0, Math.floor(seconds));
  const from = TIMES.findIndex(([, size]) => whole >= size);
  if (from < 0) return inUnit(0, 'second', 0, language);
  const parts: string[] = [];
  let left = whole;
  for (const [unit, size] of TIMES.slice(from, from + 2)) {
    const count = Math.floor(left / size);
    if (count) parts.push(inUnit(count, unit, 0, language));
    left -= count * size;
  }
  return parts.join(' ');
}
