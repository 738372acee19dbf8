// One item under review: what it says, what speaks for it, what stands beside it, and the keys that decide.
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { UseQueryResult } from '@tanstack/react-query';
import { useShortcuts } from '@/app/useShortcuts';
import { Panel } from '@/parts/Panel';
import { notify } from '@/parts/undoable';
import { besides } from './besides';
import { DecisionBar, type Action } from './DecisionBar';
import { EditForm, type Draft } from './EditForm';
import { Evidence } from './Evidence';
import { Gatekeeper } from './Gatekeeper';
import { ItemText } from './ItemText';
import { MergeDialog } from './MergeDialog';
import { Neighbours } from './Neighbours';
import classes from './Qa.module.css';
import { useSimilar, type Correction, type QaDetail, type Verdict } from './queries';
import { afterSkipping } from './shelves';
import type { Queue } from './useQueue';
import type { Review } from './useReview';

type Props = {
  id: string;
  item: UseQueryResult<QaDetail>;
  queue: Queue;
  review: Review;
  progress: { position: number; total: number } | null;
  /** Texts that were begun and not saved, by item: looking at another item does not lose them. */
  drafts: Map<string, Draft>;
  onChoose: (id: string | null) => void;
  onWhence: (id: string) => void;
};

export function ReviewItem({ id, item, queue, review, progress, drafts, onChoose, onWhence }: Props) {
  const { t } = useTranslation('qa');
  const similar = useSimilar(id);
  const [editing, setEditing] = useState(drafts.has(id));
  const [mergeWith, setMergeWith] = useState<string | null>(null);
  const shown = item.data?.qa_id === id ? item.data : undefined;
  const near = shown ? besides(shown, similar.data?.items ?? []) : [];

  const judge = (verdict: Verdict) => shown && review.judge(shown, verdict);
  function openMerge() {
    const likely = near.find(({ against }) => !against) ?? near[0];
    if (likely) setMergeWith(likely.qa_id);
    else if (similar.data) notify(t('nothingSimilar'));
  }
  function stopEditing() {
    drafts.delete(id);
    setEditing(false);
  }
  async function save(correction: Correction, approve: boolean) {
    if (!shown) return;
    await review.correct(shown, correction);
    stopEditing();
    if (approve) review.judge({ ...shown, question: correction.question }, 'approve');
  }

  const offered: Record<Action, boolean> = {
    approve: shown !== undefined && shown.status !== 'validated',
    reject: shown !== undefined && shown.status !== 'deprecated',
    edit: shown !== undefined,
    merge: shown !== undefined && near.length > 0,
    skip: queue.ids.length > 1,
    undo: review.undoes > 0,
  };
  const run: Record<Action, () => void> = {
    approve: () => judge('approve'),
    reject: () => judge('reject'),
    edit: () => setEditing(true),
    merge: openMerge,
    skip: () => onChoose(afterSkipping(queue.ids, id)),
    undo: () => void review.undoLast(),
  };
  const key = (keys: string, action: Action) => ({
    keys,
    label: t(`keys.${action}`),
    // What is being written would be lost to a decision. Without anything similar, M says so.
    run: () => !editing && (offered[action] || action === 'merge') && run[action](),
  });
  useShortcuts([key('a', 'approve'), key('r', 'reject'), key('e', 'edit'), key('m', 'merge'), key('s', 'skip')]);

  return (
    <div className={classes['review']}>
      <DecisionBar offered={offered} run={run} progress={progress} editing={editing} />
      <Panel state={item} label={t('item.label')}>
        {(told) =>
          editing ? (
            <EditForm item={told} drafts={drafts} onSave={save} onCancel={stopEditing} onReload={item.refetch} />
          ) : (
            <>
              <ItemText item={told} onWhence={onWhence} />
              <div className={classes['judged']}>
                <Evidence item={told} />
                <Gatekeeper item={told} />
              </div>
            </>
          )
        }
      </Panel>
      {shown && <Neighbours item={shown} near={near} similar={similar} onMerge={setMergeWith} />}
      {shown && mergeWith !== null && (
        <MergeDialog
          item={shown}
          near={near}
          chosen={mergeWith}
          onChoose={setMergeWith}
          onClose={() => setMergeWith(null)}
          onMerge={(from, into) => review.merge(from, into, id)}
        />
      )}
    </div>
  );
}
