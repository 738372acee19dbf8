// The list that is worked through. What was decided leaves it at once and comes back when that is undone; the list
// itself is not asked for again meanwhile, so that nobody loses their place.
import { useQueryClient, type InfiniteData } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { usePages, type PageOf } from '@/api/queries';
import { queuePage, type QueuePage, type QueueRow } from './queries';
import type { Shelf } from './shelves';

const NONE: readonly string[] = [];
const FEW = 20; // rows left at which the next page is asked for
let visits = 0;

export type Queue = ReturnType<typeof useQueue>;

export function useQueue(shelf: Shelf, project: string, words: string) {
  const client = useQueryClient();
  // Each visit reads the list anew: what this page took out of it is known to this page only.
  const [visit] = useState(() => (visits += 1));
  const queryKey = useMemo(() => ['qa', 'list', visit, shelf, project, words], [visit, shelf, project, words]);
  const pages = usePages<QueueRow>(queryKey, (cursor) => queuePage(shelf, project, words, cursor));
  const first = pages.query.data?.pages[0] as QueuePage | undefined;
  const name = JSON.stringify(queryKey);
  const [left, setLeft] = useState<Readonly<Record<string, readonly string[]>>>({});
  const decided = left[name] ?? NONE;
  const rows = useMemo(() => pages.rows.filter(({ id }) => !decided.includes(id)), [pages.rows, decided]);
  const ids = useMemo(() => rows.map(({ id }) => id), [rows]);

  const { more, hasMore, loadingMore } = pages;
  useEffect(() => {
    if (hasMore && !loadingMore && decided.length && rows.length < FEW) more();
  }, [hasMore, loadingMore, decided.length, rows.length, more]);

  const restart = useCallback(() => {
    setLeft((before) => ({ ...before, [name]: NONE }));
    return client.resetQueries({ queryKey, exact: true });
  }, [client, queryKey, name]);

  /** Take an item out of the list, if it is there; what is returned puts it back. */
  const leave = useCallback(
    (id: string) => {
      if (!ids.includes(id)) return () => {};
      setLeft((before) => ({ ...before, [name]: [...(before[name] ?? NONE), id] }));
      return () => {
        setLeft((before) => ({ ...before, [name]: (before[name] ?? NONE).filter((each) => each !== id) }));
        const held = client.getQueryData<InfiniteData<PageOf<QueueRow>>>(queryKey);
        if (!held?.pages.some((page) => page.rows.some((row) => row.id === id))) {
          void client.resetQueries({ queryKey, exact: true });
        }
      };
    },
    [client, queryKey, name, ids],
  );

  /** Show a corrected question in its row. */
  const rename = useCallback(
    (id: string, question: string) => {
      client.setQueryData<InfiniteData<PageOf<QueueRow>>>(
        queryKey,
        (held) =>
          held && {
            ...held,
            pages: held.pages.map((page) => ({
              ...page,
              rows: page.rows.map((row) => (row.id === id ? { ...row, question } : row)),
            })),
          },
      );
    },
    [client, queryKey],
  );

  return { ...pages, rows, ids, decided: decided.length, counted: first?.counted ?? null, restart, leave, rename };
}
