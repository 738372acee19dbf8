// The long list, from the newest or around an anchor, in both directions; and what has come since it was read.
import { useInfiniteQuery, useQuery, useQueryClient, type InfiniteData } from '@tanstack/react-query';
import { useThrottledCallback } from '@mantine/hooks';
import { useCallback, useMemo, useState } from 'react';
import { usePreferences } from '@/app/preferences';
import { useLiveEvents } from '@/live/useLive';
import { Grouping } from './days';
import { memoryNumber, type Filters } from './filters';
import { newestFew, PAGE, timelinePage, type TimelinePage } from './queries';

type Pages = InfiniteData<TimelinePage, unknown>;

const LOOK_MS = 600; // not more often than this
const LOOK_ANYWAY_MS = 15_000; // what nobody announces: saved by hand, imported

export function useTimeline(filters: Filters, origin: string) {
  const client = useQueryClient();
  const { clock } = usePreferences();
  const key = useMemo(() => ['timeline', 'list', filters, origin], [filters, origin]);
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => timelinePage(filters, origin, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last: TimelinePage) => last.older,
    getPreviousPageParam: (first: TimelinePage) => first.newer,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    structuralSharing: false,
  });
  const { data, hasNextPage, isFetchingNextPage, isFetchingPreviousPage, fetchNextPage, fetchPreviousPage } = query;

  const [grouping] = useState(() => new Grouping());
  const items = useMemo(() => grouping.of(data?.pages.map((page) => page.rows) ?? [], clock), [grouping, data, clock]);
  const atHead = !origin || (data !== undefined && reachesHead(data, origin));

  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const before = useCallback(() => {
    if (!atHead && !isFetchingPreviousPage) void fetchPreviousPage();
  }, [atHead, isFetchingPreviousPage, fetchPreviousPage]);

  // What is extracted later is dated by its events and stands below what is newer: so the newest are compared.
  const newest = useQuery({
    queryKey: ['timeline', 'newest', filters],
    queryFn: ({ signal }) => newestFew(filters, signal),
    enabled: Boolean(data),
    refetchInterval: LOOK_ANYWAY_MS,
    staleTime: 0,
    structuralSharing: false,
  });
  const { refetch } = newest;
  const look = useThrottledCallback(() => void refetch({ cancelRefetch: false }), LOOK_MS);
  const loaded = Boolean(data);
  useLiveEvents(() => loaded && look());
  const fresh = useMemo(
    () => (atHead && data && newest.data ? unseen(newest.data, data) : 0),
    [atHead, newest.data, data],
  );

  /** Begin anew with the newest, which are already here. */
  const showNewest = useCallback(() => {
    const page = newest.data;
    const head = ['timeline', 'list', filters, ''];
    if (page) client.setQueryData<Pages>(head, { pages: [page], pageParams: [null] });
    else void client.resetQueries({ queryKey: head, exact: true });
  }, [client, filters, newest.data]);

  return {
    query,
    items,
    more,
    before,
    atHead,
    fresh,
    showNewest,
    loadingMore: isFetchingNextPage || isFetchingPreviousPage,
  };
}

/** Around an anchor the list begins somewhere: with the newest only if fewer came than there was room for. */
function reachesHead({ pages, pageParams }: Pages, origin: string): boolean {
  const rows = pages[0]?.rows ?? [];
  if (pageParams[0] !== null) return rows.length < PAGE;
  const at = rows.findIndex((row) => row.seq === memoryNumber(origin));
  return at >= 0 && at < PAGE / 2;
}

/** How many of the newest are not in the list. */
function unseen(newest: TimelinePage, { pages }: Pages): number {
  const until = newest.rows.at(-1)?.created_ms ?? Infinity;
  const seen = new Set<number>();
  for (const page of pages) {
    for (const row of page.rows) seen.add(row.seq);
    if ((page.rows.at(-1)?.created_ms ?? Infinity) < until) break;
  }
  return newest.rows.filter((row) => !seen.has(row.seq)).length;
}
