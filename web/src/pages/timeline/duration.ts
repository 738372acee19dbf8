// How long something took, in words short enough for a line.
import { localeTag } from '@/i18n';

const UNITS = [
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** "41 sec", "2 hr 5 min", "120 ms": at most two units. */
export function duration(ms: number, language: string): string {
  const tag = localeTag(language);
  const part = (value: number, unit: string, digits = 0) =>
    new Intl.NumberFormat(tag, { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: digits }).format(
      value,
    );
  if (ms < 1_000) return part(Math.max(0, Math.round(ms)), 'millisecond');
  if (ms < 10_000) return part(ms / 1_000, 'second', 1);
  const parts: string[] = [];
  let left = ms;
  for (const [unit, size] of UNITS) {
    const whole = Math.floor(left / size);
    if (whole && parts.length < 2) parts.push(part(whole, unit));
    left -= whole * size;
  }
  return parts.join(' ');
}
