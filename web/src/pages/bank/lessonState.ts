// What the address of a lesson's page says.
import { choice, count } from '@/app/searchState';

export const TABS = ['content', 'versions'] as const;
export const LESSON_STATE = {
  tab: choice(TABS, 'content'),
  /** The version that is looked at. */
  v: count(),
  /** What it is compared with. */
  with: choice(['before', 'current'], 'before'),
};
type Fields = typeof LESSON_STATE;
export type LessonPageState = { [K in keyof Fields]: Fields[K]['initial'] };
export type SetLessonPageState = (change: Partial<LessonPageState>, how?: { replace?: boolean }) => void;
