// What a person decides about questions with their answers; how it is told and taken back is the same in every review.
import { type InfiniteData, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/api/client';
import { correctQa } from '@/api/life';
import { neighbourOf } from '@/parts/queuePlace';
import { brief, useDecisions } from '@/parts/useDecisions';
import type { PageOf } from '@/api/queries';
import { useQueue as useAnyQueue } from '@/parts/useQueue';
import { decide, merge, queuePage, type QueuePage, type QueueRow, takeBack, type Verdict } from './queries';
import type { Counted, QaStatus, Shelf } from './shelves';

type Named = { qa_id: string; question: string };
type Judged = Named & { status: QaStatus };

const taking = (id: string) => async (delta: string | null) => delta !== null && takeBack(id, delta);

export type Review = ReturnType<typeof useReview>;

export function useReview(queue: Queue, choose: (id: string | null) => void) {
  const { t } = useTranslation('qa');
  const client = useQueryClient();

  const refresh = useCallback(async () => {
    // Other shelves are read anew when they are next looked at.
    client.removeQueries({ queryKey: ['qa', 'list'], type: 'inactive' });
    await Promise.all(
      ['counts', 'item', 'similar'].map((thing) => client.invalidateQueries({ queryKey: ['qa', thing] })),
    );
  }, [client]);

  const { undoes, offer, act, undoLast } = useDecisions({
    refresh,
    failed: (reason) => t('failed', { reason }),
    nothingToUndo: t('nothingToUndo'),
  });

  /** The counts as they will be, until the server tells them. */
  function recount(from: QaStatus, to: Counted) {
    void client.cancelQueries({ queryKey: ['qa', 'counts'] });
    client.setQueriesData<Schemas['QACountsAnswer']>({ queryKey: ['qa', 'counts'] }, (held) => {
      if (!held || !(from in held.counts)) return held;
      const counts = { ...held.counts };
      counts[from as Counted] -= 1;
      counts[to] += 1;
      return { ...held, counts };
    });
  }

  /** Take the item out of the list and show the one after it. */
  function moveOn(id: string) {
    choose(neighbourOf(queue.ids, id));
    const comeBack = queue.leave(id);
    return () => {
      comeBack();
      choose(id);
    };
  }

  return {
    undoes,

    judge(item: Judged, verdict: Verdict) {
      const back = moveOn(item.qa_id);
      recount(item.status, verdict === 'approve' ? 'validated' : 'deprecated');
      act(
        t(`done.${verdict}`, { question: brief(item.question) }),
        decide(item.qa_id, verdict),
        taking(item.qa_id),
        back,
      );
    },

    /** Merge one item into another; `shown` is the one before the reader. */
    merge(from: Judged, into: Named, shown: string) {
      recount(from.status, 'deprecated');
      const comeBack = from.qa_id === shown ? moveOn(shown) : queue.leave(from.qa_id);
      const message = t('done.merge', { question: brief(into.question) });
      act(message, merge(from.qa_id, into.qa_id), taking(from.qa_id), comeBack);
    },

    /** Resolves when the server has it; a refusal is thrown, for the dialog to show. */
    async correct(item: Named, correction: Parameters<typeof correctQa>[1]) {
      const made = await correctQa(item.qa_id, correction);
      queue.rename(item.qa_id, made.question);
      await refresh();
      if (made.delta === null) return;
      offer(t('done.edit', { question: brief(made.question) }), Promise.resolve(made), taking(item.qa_id), () =>
        queue.rename(item.qa_id, item.question),
      );
    },

    undoLast,
  };
}

export type Queue = ReturnType<typeof useQueue>;

/** The questions with answers that are worked through, and how many waited when the list was read. */
export function useQueue(shelf: Shelf, project: string, words: string) {
  const client = useQueryClient();
  const queue = useAnyQueue<QueueRow>(['qa', 'list', shelf, project, words], (cursor) =>
    queuePage(shelf, project, words, cursor),
  );
  const { queryKey } = queue;
  const first = queue.query.data?.pages[0] as QueuePage | undefined;

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

  return { ...queue, counted: first?.counted ?? null, rename };
}
