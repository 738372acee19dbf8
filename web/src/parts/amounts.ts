// Amounts as a person says them: bytes, and how long something took or has been going on.
import { localeTag } from '@/i18n';

const SIZES = [
  ['byte', 1],
  ['kilobyte', 1e3],
  ['megabyte', 1e6],
  ['gigabyte', 1e9],
  ['terabyte', 1e12],
] as const;
const TIMES = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

const formats = new Map<string, Intl.NumberFormat>();

function inUnit(value: number, unit: string, digits: number, language: string): string {
  const key = `${language} ${unit} ${digits}`;
  const style = { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: digits } as const;
  const format = formats.get(key) ?? new Intl.NumberFormat(localeTag(language), style);
  formats.set(key, format);
  return spaced(format.format(value));
}

/** Chinese sets a space between a number and the word after it, which the browser's formats leave out. */
export function spaced(text: string): string {
  return text.replace(/(\d)(?=\p{Script=Han})/gu, '$1 ');
}

/** "412 byte", "82 kB", "1.4 GB". */
export function bytesText(bytes: number, language: string): string {
  const [unit, size] = SIZES.findLast(([, each]) => bytes >= each) ?? SIZES[0];
  const value = bytes / size;
  return inUnit(value, unit, value < 10 && size > 1 ? 1 : 0, language);
}

/** "3.2 ms", "820 ms", "4.2 sec", "41 sec", "3 min 5 sec", "2 days 3 hr": at most two units. */
export function durationText(ms: number, language: string): string {
  const whole = Math.max(0, ms);
  if (Math.round(whole) < 1_000) return inUnit(whole, 'millisecond', whole < 10 ? 1 : 0, language);
  if (whole < 9_950) return inUnit(whole / 1_000, 'second', 1, language);
  const parts: string[] = [];
  let left = Math.round(whole / 1_000) * 1_000;
  const from = TIMES.findIndex(([, size]) => left >= size);
  for (const [unit, size] of TIMES.slice(from, from + 2)) {
    const count = Math.floor(left / size);
    if (count) parts.push(inUnit(count, unit, 0, language));
    left -= count * size;
  }
  return parts.join(' ');
}
