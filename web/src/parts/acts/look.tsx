// How each act looks wherever it is offered.
import {
  IconArrowMerge,
  IconArrowsSplit,
  IconBan,
  IconCheck,
  IconEye,
  IconEyeOff,
  IconMessage2,
  IconMessageOff,
  IconPencil,
  IconPin,
  IconPinnedOff,
  IconReplace,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';
import type { Doable } from './useActs';

export const ICONS: Record<Doable, ComponentType<{ size: number; 'aria-hidden': boolean }>> = {
  approve: IconCheck,
  edit: IconPencil,
  pin: IconPin,
  unpin: IconPinnedOff,
  withhold: IconMessageOff,
  release: IconMessage2,
  supersede: IconReplace,
  merge: IconArrowMerge,
  split: IconArrowsSplit,
  deprecate: IconBan,
  hide: IconEyeOff,
  unhide: IconEye,
};

/** Acts that ask something first. */
export const ASKING = ['edit', 'supersede', 'merge', 'split'] as const satisfies readonly Doable[];
export type Asking = (typeof ASKING)[number];

export function isAsking(act: Doable): act is Asking {
  return ASKING.some((each) => each === act);
}
