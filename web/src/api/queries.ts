// How pages ask. A query key begins with its area, then the thing, then what was asked for: ['notes', 'list', filters];
// so one area can be asked anew as a whole with invalidateQueries({ queryKey: ['notes'] }).
import { QueryClient, useInfiniteQuery, useQueryClient, type QueryKey } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { ApiError } from './errors';

const GIVE_UP_AFTER = 2;

/** Worth another try: nobody answered, or the server was not able to just now. */
function passing(error: Error): boolean {
  return error instanceof ApiError && (error.code === 'unreachable' || error.status >= 500);
}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // The server is this machine: a browser that thinks itself offline still reaches it.
      networkMode: 'always',
      retry: (count, error) => count < GIVE_UP_AFTER && passing(error),
    },
    mutations: { networkMode: 'always' },
  },
});

export type PageOf<T> = { rows: T[]; next: string | null };

/**
 * A list by cursors, for VirtualRows: `rows` so far, `more()` for the next page, `restart()` to begin anew.
 * Pages once read are not asked for again, because asking anew would ask for every one of them.
 */
export function usePages<T>(key: QueryKey, fetchPage: (cursor: string | null) => Promise<PageOf<T>>) {
  const client = useQueryClient();
  const written = JSON.stringify(key);
  const queryKey = useMemo(() => JSON.parse(written) as QueryKey, [written]);
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => fetchPage(pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (last: PageOf<T>) => last.next,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    // Comparing a hundred thousand rows with themselves costs more than showing them.
    structuralSharing: false,
  });
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const rows = useMemo(() => data?.pages.flatMap((page) => page.rows) ?? [], [data]);
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const restart = useCallback(() => client.resetQueries({ queryKey, exact: true }), [client, queryKey]);
  return { query, rows, more, restart, hasMore: hasNextPage, loadingMore: isFetchingNextPage };
}
