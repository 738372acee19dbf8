// How long something took, in the unit that a person would choose.
import { localeTag } from '@/i18n';

const formats = new Map<string, Intl.NumberFormat>();

function inUnit(value: number, unit: string, digits: number, language: string): string {
  const key = `${language} ${unit} ${digits}`;
  const made =
    formats.get(key) ??
    new Intl.NumberFormat(localeTag(language), {
      style: 'unit',
      unit,
      unitDisplay: 'narrow',
      minimumFractionDigits: 0,
      maximumFractionDigits: digits,
    });
  formats.set(key, made);
  return made.format(value);
}

/** "820ms", "4.2s", "41s", "3m 5s", "2h 10m". */
export function durationText(ms: number, language: string): string {
  const whole = Math.max(0, ms);
  if (whole < 1_000) return inUnit(Math.round(whole), 'millisecond', 0, language);
  if (whole < 10_000) return inUnit(whole / 1_000, 'second', 1, language);
  const seconds = Math.round(whole / 1_000);
  if (seconds < 60) return inUnit(seconds, 'second', 0, language);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return pair(minutes, 'minute', seconds % 60, 'second', language);
  return pair(Math.floor(minutes / 60), 'hour', minutes % 60, 'minute', language);
}

function pair(first: number, unit: string, rest: number, smaller: string, language: string): string {
  const major = inUnit(first, unit, 0, language);
  return rest ? `${major} ${inUnit(rest, smaller, 0, language)}` : major;
}

/** How long a run or a batch took, or has taken until `now`; null before it began. In seconds since the epoch. */
export function tookMs(thing: { started_at: number | null; ended_at: number | null }, now: number): number | null {
  if (thing.started_at === null) return null;
  return ((thing.ended_at ?? now) - thing.started_at) * 1_000;
}
