// Keeps a list of batches up to date without moving it: batches that go on are asked for by themselves, those that have
// ended since are read again with their list, and new ones are only counted.
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { ended, fetchBatches, LARGEST_PAGE, type Batch } from '@/api/lab';

const BUSY_MS = 1_500;
const IDLE_MS = 10_000;

export function useActiveBatches(rows: readonly Batch[], reload: () => void) {
  const active = useQuery({
    queryKey: ['lab', 'batches', 'active'],
    queryFn: () => fetchBatches(null, ['queued', 'running'], '', LARGEST_PAGE),
    refetchInterval: ({ state }) => (state.data?.items.length ? BUSY_MS : IDLE_MS),
  });
  const told = active.data;
  const byId = useMemo(() => new Map(told?.items.map((each) => [each.batch_id, each])), [told]);
  const shown = useMemo(
    () => (byId.size ? rows.map((row) => (ended(row) ? row : (byId.get(row.batch_id) ?? row))) : rows),
    [rows, byId],
  );
  // Only what the answer, had it been asked for by this list, would have to hold.
  const over = told && !told.has_more ? rows.filter((row) => !ended(row) && !byId.has(row.batch_id)) : [];
  const finished = over.map((row) => row.batch_id).join(' ');
  useEffect(() => {
    if (finished) reload();
  }, [finished, reload]);
  const newest = rows[0]?.created_at ?? -Infinity;
  const known = useMemo(() => new Set(rows.map((row) => row.batch_id)), [rows]);
  const fresh = told ? told.items.filter((each) => each.created_at >= newest && !known.has(each.batch_id)).length : 0;
  return { shown, fresh };
}
