// What the viewer keeps in the address: the view, its filters and what is chosen in it.
import { choice, count, text, type Field } from '@/app/searchState';

export const TABS = ['overview', 'traces', 'timings', 'failures'] as const;
export const RANGES = ['1h', '24h', '7d'] as const;
export const MODES = ['lexical-only', 'hybrid'] as const;
export const WORK = ['observation', 'summarize'] as const;
export const EVENTS = ['model.result', 'session.status', 'queue.failed'] as const;

export type Range = (typeof RANGES)[number];
export type EventName = (typeof EVENTS)[number];

export const SCHEMA = {
  tab: choice(TABS, 'overview'),
  range: choice(RANGES, '1h'),
  show: choice(['counts', 'times'], 'counts'),
  event: choice(['', ...EVENTS], ''),
  project: text(),
  query: text(),
  mode: choice(['', ...MODES], ''),
  from: text(),
  to: text(),
  session: count(),
  type: choice(['', ...WORK], ''),
  success: choice(['', 'true', 'false'], ''),
  class: text(),
  sel: count(),
};

export type ViewerState = { [K in keyof typeof SCHEMA]: (typeof SCHEMA)[K] extends Field<infer T> ? T : never };
export type SetState = (change: Partial<ViewerState>, options?: { replace?: boolean }) => void;

export type TabProps = { state: ViewerState; set: SetState };

/** Everything that narrows a list, at its default. */
export const NO_FILTERS = {
  project: '',
  query: '',
  mode: '',
  from: '',
  to: '',
  session: null,
  type: '',
  success: '',
  class: '',
} as const satisfies Partial<ViewerState>;

/** Whether a list is narrowed by any of these. */
export function narrowed(state: ViewerState, names: readonly (keyof typeof NO_FILTERS)[]): boolean {
  return names.some((name) => state[name] !== NO_FILTERS[name]);
}
