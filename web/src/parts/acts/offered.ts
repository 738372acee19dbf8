// Which acts make sense for memories in their present state. Pure.
import type { Living } from '@/api/life';
import type { Doable } from './useActs';

const SHOWN = ['active', 'proposed'];

/** In the order in which they are offered. */
export function offeredFor(memories: readonly Living[]): Doable[] {
  const some = (fits: (memory: Living) => boolean) => memories.some(fits);
  const one = memories.length === 1;
  const shown = (memory: Living) => SHOWN.includes(memory.life);
  const open = memories.every(({ life }) => life !== 'hidden');
  const marked = (mark: Living['marks'][number]) => (memory: Living) => memory.marks.includes(mark);
  const acts: [Doable, boolean][] = [
    ['approve', some(({ life }) => life === 'proposed')],
    ['edit', one && open],
    ['pin', some((memory) => shown(memory) && !marked('pinned')(memory))],
    ['unpin', some(marked('pinned'))],
    ['withhold', some((memory) => shown(memory) && !marked('withheld')(memory))],
    ['release', some(marked('withheld'))],
    ['supersede', some(shown)],
    ['merge', memories.every(shown)],
    ['split', one && some(shown)],
    ['deprecate', some((memory) => shown(memory) && memory.kind !== 'lesson')],
    ['hide', some(({ life }) => life !== 'hidden')],
    ['unhide', some((memory) => !shown(memory))],
  ];
  return acts.flatMap(([act, fits]) => (fits ? [act] : []));
}

/** Whether these can become one. */
export function mergeable(memories: readonly Living[]): boolean {
  const [first] = memories;
  return memories.every(({ kind, project }) => kind === first?.kind && project === first.project);
}
