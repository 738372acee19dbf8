// A list of memories with the chosen one beside it; where there is no room for both, the list alone.
import { useMediaQuery } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useRef, type ReactNode } from 'react';
import type { Row } from './queries';
import { MemoryPreview } from './MemoryPreview';
import classes from './Timeline.module.css';

type Props = {
  chosen: Row | null;
  /** Choose another one, or none. */
  onChoose: (row: Row | null) => void;
  /** The row to choose when the chosen one is gone. */
  after: (row: Row) => Row | null;
  onPlace?: (() => void) | undefined;
  list: (acts: { onSelect?: (row: Row) => void; onOpen: (row: Row) => unknown }) => ReactNode;
};

export const LIST_HEIGHT = 'max(320px, calc(100dvh - 276px))';

export function Beside({ chosen, onChoose, after, onPlace, list }: Props) {
  const narrow = useMediaQuery('(max-width: 62em)', false, { getInitialValueInEffect: false });
  const navigate = useNavigate();
  const onOpen = useCallback(
    async (row: Row) => {
      // The way back leads to the same place of the list.
      const search = (before: object) => ({ ...before, anchor: row.ref });
      await navigate({ to: '.', search: search as never, replace: true, resetScroll: false });
      await navigate({ to: '/ui/observations/$seq', params: { seq: String(row.seq) } });
    },
    [navigate],
  );
  const next = useRef(after);
  next.current = after;
  const onForgotten = useCallback((row: Row) => onChoose(next.current(row)), [onChoose]);
  if (narrow) return list({ onOpen });
  return (
    <div className={classes['beside']}>
      {list({ onSelect: onChoose, onOpen })}
      <MemoryPreview row={chosen} onOpen={onOpen} onForgotten={onForgotten} onPlace={onPlace} />
    </div>
  );
}
