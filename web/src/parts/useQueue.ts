// A list that is worked through. What was decided leaves it at once and comes back when that is undone; the list itself
// is not asked for again meanwhile, so that nobody loses their place.
import { useQueryClient, type InfiniteData, type QueryKey } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { usePages, type PageOf } from '@/api/queries';

const NONE: readonly string[] = [];
const FEW = 20; // rows left at which the next page is asked for
let visits = 0;

/** `area` and what was asked for name the list; `queryKey` of the answer names this visit's own copy of it. */
export function useQueue<T extends { id: string }>(
  area: QueryKey,
  fetchPage: (cursor: string | null) => Promise<PageOf<T>>,
) {
  const client = useQueryClient();
  // Each visit reads the list anew: what this page took out of it is known to this page only.
  const [visit] = useState(() => (visits += 1));
  const written = JSON.stringify(area);
  const queryKey = useMemo<QueryKey>(() => {
    const [room, thing, ...asked] = JSON.parse(written) as unknown[];
    return [room, thing, visit, ...asked];
  }, [visit, written]);
  const pages = usePages<T>(queryKey, fetchPage);
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
        const held = client.getQueryData<InfiniteData<PageOf<T>>>(queryKey);
        if (!held?.pages.some((page) => page.rows.some((row) => row.id === id))) {
          void client.resetQueries({ queryKey, exact: true });
        }
      };
    },
    [client, queryKey, name, ids],
  );

  return { ...pages, queryKey, rows, ids, decided: decided.length, restart, leave };
}
