// Keeps a list up to date without moving it: rows that changed are replaced where they stand, new ones are counted.
import { useQuery, type QueryKey } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { PageOf } from '@/api/queries';

const WATCH_MS = 3_000;

export function useFresh<T extends { created_at: number }>(
  queryKey: QueryKey,
  rows: readonly T[],
  keyOf: (row: T) => string,
  newest: () => Promise<PageOf<T>>,
  watched = true,
): { shown: readonly T[]; fresh: number } {
  const { data } = useQuery({
    queryKey: [...queryKey, 'newest'],
    queryFn: newest,
    refetchInterval: WATCH_MS,
    enabled: watched,
  });
  return useMemo(() => {
    if (!data || !watched) return { shown: rows, fresh: 0 };
    const told = new Map(data.rows.map((row) => [keyOf(row), row]));
    const known = new Set(rows.map(keyOf));
    const since = rows[0]?.created_at ?? -Infinity;
    const fresh = data.rows.filter((row) => !known.has(keyOf(row)) && row.created_at >= since).length;
    return { shown: rows.map((row) => told.get(keyOf(row)) ?? row), fresh };
  }, [data, rows, keyOf, watched]);
}
