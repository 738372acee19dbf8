// Lists after something was taken out of memory: forgotten rows go without asking for whole lists again.
import { useQueryClient, type InfiniteData } from '@tanstack/react-query';
import { useCallback } from 'react';
import type { Row } from './queries';

type Pages = InfiniteData<{ rows: Row[] }>;

/** Takes rows out of every list that shows them. */
export function useDropped(): (seqs: readonly number[]) => void {
  const client = useQueryClient();
  return useCallback(
    (seqs) => {
      for (const list of ['list', 'found']) {
        client.setQueriesData<Pages>({ queryKey: ['timeline', list] }, (data) => data && without(data, seqs));
      }
      // What was forgotten must not be read from memory of the page either.
      client.removeQueries({
        predicate: ({ queryKey: [area, thing, ...rest] }) =>
          area === 'timeline' && thing === 'memory' && seqs.includes(Number(String(rest.at(-1)).replace(/^[SP]/, ''))),
      });
      for (const other of ['turns', 'session', 'sessions', 'newest']) {
        void client.invalidateQueries({ queryKey: ['timeline', other] });
      }
    },
    [client],
  );
}

function without(data: Pages, seqs: readonly number[]): Pages {
  const pages = data.pages.map((page) =>
    // A page that is not concerned stays the same object, and what was made of it is kept.
    page.rows.some((row) => seqs.includes(row.seq))
      ? { ...page, rows: page.rows.filter((row) => !seqs.includes(row.seq)) }
      : page,
  );
  return { ...data, pages };
}

/** After many memories changed at once: what is in view is asked for again, the rest when it is next looked at. */
export function useChanged(): () => void {
  const client = useQueryClient();
  return useCallback(() => {
    client.removeQueries({ queryKey: ['timeline'], type: 'inactive' });
    void client.invalidateQueries({ queryKey: ['timeline'] });
  }, [client]);
}
