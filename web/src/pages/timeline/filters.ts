// What the timeline is narrowed to, as it stands in the address, and as the server is asked for it.
import { choice, text, type Schema } from '@/app/searchState';
import { FACETS, NO_FACETS, type Chosen } from '@/parts/facets';

export const KINDS = ['observation', 'summary', 'prompt', 'note', 'qa', 'knowledge', 'lesson'] as const;
export type TimelineKind = (typeof KINDS)[number];

/** Parts of life besides the usual one, and marks, that a list can show. */
export const LIVES = ['proposed', 'superseded', 'deprecated', 'hidden'] as const;
export const MARKS = ['pinned', 'withheld'] as const;
/** Why a memory that is in use may need care. */
export const CONCERNS = ['changed', 'gone', 'never_told', 'unused'] as const;
export type Show = {
  life: 'active' | (typeof LIVES)[number];
  mark: '' | (typeof MARKS)[number];
  health: '' | (typeof CONCERNS)[number];
};

export type TimelineState = Show &
  Chosen & {
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
  life: choice(['active', ...LIVES], 'active'),
  mark: choice(['', ...MARKS], ''),
  health: choice(['', ...CONCERNS], ''),
  q: text(),
  from: text(),
  to: text(),
  type: text(),
  file: text(),
  concept: text(),
  agent: text(),
  origin: text(),
  anchor: text(),
};

export type Filters = { project: string; kind: TimelineKind | null; from: string; to: string; labels: Chosen };

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;

/** The first or last moment of a day as the person's clock has it; a time that is no day is left as it is. */
export function momentOf(day: string, clock: 'local' | 'utc', end: boolean): string {
  const parts = DAY.exec(day);
  if (!parts || clock === 'utc') return day;
  const [year, month, date] = parts.slice(1).map(Number) as [number, number, number];
  const next = new Date(year, month - 1, date + (end ? 1 : 0)).getTime();
  return String(end ? next - 1 : next);
}

export function filtersOf(
  state: Pick<TimelineState, 'project' | 'kind' | 'from' | 'to'> & { labels: Chosen },
  clock: 'local' | 'utc',
): Filters {
  return {
    labels: state.labels,
    project: state.project,
    kind: state.kind === 'all' ? null : state.kind,
    from: momentOf(state.from, clock, false),
    to: momentOf(state.to, clock, true),
  };
}

export function anyFilter(state: TimelineState): boolean {
  return Boolean(state.project || state.kind !== 'all' || state.q || state.from || state.to || anyLabel(state));
}

export function anyLabel(labels: Chosen): boolean {
  return FACETS.some((name) => labels[name]);
}

/** Whether another list is wanted than that of what is in use. */
export function isElsewhere({ life, mark, health }: Show): boolean {
  return life !== 'active' || Boolean(mark || health);
}

export const UNFILTERED = { project: '', kind: 'all', q: '', from: '', to: '', ...NO_FACETS } as const;

const NUMBERED = /^#?[SP]?(\d{1,15})$/i;

/** The number of the memory that an anchor names; null where it names a time or something else. */
export function memoryNumber(anchor: string): number | null {
  const found = NUMBERED.exec(anchor.trim());
  return found ? Number(found[1]) : null;
}

/** How a list names a memory as the one it stands around: always by number, for addresses could be times. */
export function anchorOf({ ref, seq }: { ref: string; seq: number }): string {
  return memoryNumber(ref) === null ? `#${seq}` : ref;
}
