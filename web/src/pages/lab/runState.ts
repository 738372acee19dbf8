// What the address of a run's page says: which part, which event, which source, which filters.
import { choice, flag, text } from '@/app/searchState';
import { LEVELS } from './traceView';

export const TABS = ['trace', 'output', 'evidence', 'feedback', 'learning'] as const;
export const RUN_STATE = {
  tab: choice(TABS, 'trace'),
  event: text(),
  alias: text(),
  type: text(),
  failed: flag(),
  q: text(),
  level: choice(LEVELS, 'steps'),
};
type Fields = typeof RUN_STATE;
export type RunState = { [K in keyof Fields]: Fields[K]['initial'] };
export type SetRunState = (change: Partial<RunState>, how?: { replace?: boolean }) => void;
