// What a person decides. A decision shows at once and is told to the server; while its notice stands, or with U, it is
// taken back there too. Failed decisions return to the list.
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/api/client';
import { notify, notifyError, undoable } from '@/parts/undoable';
import { reasonOf } from '@/parts/errorText';
import { correct, decide, merge, takeBack, type Correction, type Verdict } from './queries';
import { neighbourOf, type Counted, type QaStatus } from './shelves';
import type { Queue } from './useQueue';

type Named = { qa_id: string; question: string };
type Judged = Named & { status: QaStatus };
type Made = Promise<{ delta: string | null }>;
type Done = { notice: string; undo: () => Promise<unknown> };

const REMEMBERED = 50; // decisions of this visit that U takes back
const QUESTION = 48; // characters of a question in a notice

export type Review = ReturnType<typeof useReview>;

export function useReview(queue: Queue, choose: (id: string | null) => void) {
  const { t } = useTranslation(['qa', 'common']);
  const client = useQueryClient();
  const done = useRef<readonly Done[]>([]);
  const [undoes, setUndoes] = useState(0); // how many decisions can be taken back
  function keep(entries: readonly Done[]) {
    done.current = entries.slice(-REMEMBERED);
    setUndoes(done.current.length);
  }

  const refresh = useCallback(async () => {
    // Other shelves are read anew when they are next looked at.
    client.removeQueries({ queryKey: ['qa', 'list'], type: 'inactive' });
    await Promise.all(
      ['counts', 'item', 'similar'].map((thing) => client.invalidateQueries({ queryKey: ['qa', thing] })),
    );
  }, [client]);

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

  /** Tell what was done and offer to take it back; `back` shows what was before. */
  function offer(message: string, id: string, made: Made, back: () => void) {
    const entry: Done = {
      notice: '',
      undo: async () => {
        keep(done.current.filter((each) => each !== entry));
        const { delta } = await made;
        if (delta !== null) await takeBack(id, delta);
        back();
        await refresh();
      },
    };
    entry.notice = undoable(message, entry.undo);
    keep([...done.current, entry]);
    return entry;
  }

  /** Optimistic: the list moves on before the server has answered. */
  function act(message: string, id: string, made: Made, back: () => void) {
    const entry = offer(message, id, made, back);
    made.then(refresh, (thrown: unknown) => {
      keep(done.current.filter((each) => each !== entry));
      notifications.hide(entry.notice);
      back();
      void refresh();
      notifyError(t('failed', { reason: reasonOf(thrown) }));
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
      act(t(`done.${verdict}`, { question: short(item.question) }), item.qa_id, decide(item.qa_id, verdict), back);
    },

    /** Merge one item into another; `shown` is the one before the reader. */
    merge(from: Judged, into: Named, shown: string) {
      recount(from.status, 'deprecated');
      const comeBack = from.qa_id === shown ? moveOn(shown) : queue.leave(from.qa_id);
      const message = t('done.merge', { question: short(into.question) });
      act(message, from.qa_id, merge(from.qa_id, into.qa_id), comeBack);
    },

    /** Resolves when the server has it; a refusal is thrown, for the form to show. */
    async correct(item: Named, correction: Correction) {
      const made = await correct(item.qa_id, correction);
      queue.rename(item.qa_id, made.question);
      await refresh();
      if (made.delta === null) return;
      offer(t('done.edit', { question: short(made.question) }), item.qa_id, Promise.resolve(made), () =>
        queue.rename(item.qa_id, item.question),
      );
    },

    async undoLast() {
      const last = done.current.at(-1);
      if (!last) return notify(t('nothingToUndo'));
      notifications.hide(last.notice);
      try {
        await last.undo();
        notify(t('common:undone'));
      } catch (thrown) {
        notifyError(t('common:undoFailed', { reason: reasonOf(thrown) }));
      }
    },
  };
}

function short(question: string): string {
  const signs = [...question];
  return signs.length > QUESTION ? `${signs.slice(0, QUESTION).join('')}…` : question;
}
