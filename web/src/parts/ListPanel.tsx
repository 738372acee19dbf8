// A panel around a list that is read page by page: the states of its answer, and its rows.
import type { ComponentProps, ReactNode } from 'react';
import type { usePages } from '@/api/queries';
import { Panel } from './Panel';
import { VirtualRows } from './VirtualRows';

type Rows<T> = ComponentProps<typeof VirtualRows<T>>;
type Around = Pick<ComponentProps<typeof Panel>, 'title' | 'empty' | 'filtered' | 'degraded' | 'actions'>;
type List<T> = Pick<ReturnType<typeof usePages<T>>, 'query' | 'rows' | 'more' | 'hasMore' | 'loadingMore'>;

type Props<T> = Around &
  Omit<Rows<T>, 'rows' | 'onEndReached' | 'loadingMore'> & {
    list: List<T>;
    /** What is shown of the list, if not its rows as they were read. */
    rows?: readonly T[];
    /** How high it becomes before it scrolls. */
    most?: string;
    /** What stands below the rows. */
    below?: ReactNode;
  };

export function ListPanel<T>({
  title,
  empty,
  filtered,
  degraded,
  actions,
  list,
  most = '70vh',
  below,
  ...row
}: Props<T>) {
  const { rows = list.rows, height = most } = row;
  return (
    <Panel
      {...(title ? { title } : { label: row.label })}
      state={list.query}
      isEmpty={() => !list.rows.length && !list.hasMore}
      {...(empty ? { empty } : {})}
      filtered={filtered}
      degraded={degraded}
      actions={actions}
      flush
    >
      <VirtualRows {...row} rows={rows} height={height} onEndReached={list.more} loadingMore={list.loadingMore} />
      {below}
    </Panel>
  );
}
