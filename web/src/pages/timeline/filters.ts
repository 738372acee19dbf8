// What the timeline is narrowed to, as it stands in the address, and as the server is asked for it.
import { choice, text, type Schema } from '@/app/searchState';

export const KINDS = ['observation', 'summary', 'prompt'] as const;
export type TimelineKind = (typeof KINDS)[number];

export type TimelineState = {
  project: string;
  kind: TimelineKind | 'all';
  q: string;
  from: string;
  to: string;
  /** The chosen memory; an address with it opens the list around it. */
  anchor: string;
};
export const SCHEMA: Schema<TimelineState> = {
  project: text(),
  kind: choice(['all', ...KINDS], 'all'),
  q: text(),
  from: text(),
  to: text(),
  anchor: text(),
};

export type Filters = { project: string; kind: TimelineKind | null; from: string; to: string };

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;

/** The first or last moment of a day as the person's clock has it; a time that is no day is left as it is. */
export function momentOf(day: string, clock: 'local' | 'utc', end: boolean): string {
  const parts = DAY.exec(day);
  if (!parts || clock === 'utc') return day;
  const [year, month, date] = parts.slice(1).map(Number) as [number, number, number];
  const next = new Date(year, month - 1, date + (end ? 1 : 0)).getTime();
  return String(end ? next - 1 : next);
}

export function filtersOf(state: Omit<TimelineState, 'q' | 'anchor'>, clock: 'local' | 'utc'): Filters {
  return {
    project: state.project,
    kind: state.kind === 'all' ? null : state.kind,
    from: momentOf(state.from, clock, false),
    to: momentOf(state.to, clock, true),
  };
}

export function anyFilter(state: TimelineState): boolean {
  return Boolean(state.project || state.kind !== 'all' || state.q || state.from || state.to);
}

export const UNFILTERED = { project: '', kind: 'all', q: '', from: '', to: '' } as const;

const NUMBERED = /^#?[SP]?(\d{1,15})$/i;

/** The number of the memory that an anchor names; null where it names a time or something else. */
export function memoryNumber(anchor: string): number | null {
  const found = NUMBERED.exec(anchor.trim());
  return found ? Number(found[1]) : null;
}
