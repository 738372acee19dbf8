// A moment: how long ago, with the exact time for machines and on hover. All times of a page tick together.
import { useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { usePreferences } from '@/app/preferences';
import { localeTag } from '@/i18n';
import { spaced } from './amounts';

type Props = {
  /** Epoch in milliseconds; null for never. */
  at: number | null | undefined;
  /** Show the exact time instead of how long ago it was. */
  exact?: boolean;
};

const TICK_MS = 15_000;
const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

let now = Date.now();
const watchers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function watch(tell: () => void): () => void {
  watchers.add(tell);
  timer ??= setInterval(() => {
    now = Date.now();
    watchers.forEach((each) => each());
  }, TICK_MS);
  return () => {
    watchers.delete(tell);
    if (watchers.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

const relative = new Map<string, Intl.RelativeTimeFormat>();
const absolute = new Map<string, Intl.DateTimeFormat>();

/** "3 minutes ago", in the language's short form. */
export function timeAgo(at: number, from: number, language: string): string {
  const tag = localeTag(language);
  const format = relative.get(tag) ?? new Intl.RelativeTimeFormat(tag, { numeric: 'auto', style: 'short' });
  relative.set(tag, format);
  const seconds = Math.round((at - from) / 1000);
  // A clock that is slightly ahead must not make the future of what has just happened.
  if (Math.abs(seconds) < 5) return format.format(0, 'second');
  const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? (['second', 1] as const);
  return spaced(format.format(Math.trunc(seconds / size), unit));
}

/** What a time is counted from: the last tick; for what happened since, this moment, or it would lie in the future. */
export function countedFrom(at: number, tick: number, current = Date.now()): number {
  return at > tick ? Math.max(tick, current) : tick;
}

/** The exact time in the person's clock. */
export function exactTime(at: number, language: string, clock: 'local' | 'utc'): string {
  const key = `${language} ${clock}`;
  const format =
    absolute.get(key) ??
    new Intl.DateTimeFormat(localeTag(language), {
      dateStyle: 'medium',
      timeStyle: 'medium',
      hourCycle: 'h23',
      ...(clock === 'utc' ? { timeZone: 'UTC' } : {}),
    });
  absolute.set(key, format);
  return clock === 'utc' ? `${format.format(at)} UTC` : format.format(at);
}

export function TimeText({ at, exact = false }: Props) {
  const { t, i18n } = useTranslation();
  const { clock } = usePreferences();
  const from = useSyncExternalStore(watch, () => now);
  if (at === null || at === undefined) return <span>{t('never')}</span>;
  const whole = exactTime(at, i18n.language, clock);
  return (
    <time dateTime={new Date(at).toISOString()} title={whole} style={{ whiteSpace: 'nowrap' }}>
      {exact ? whole : timeAgo(at, countedFrom(at, from), i18n.language)}
    </time>
  );
}
