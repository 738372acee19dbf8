// One item under review: what it says, what speaks for it, what stands beside it, and the keys that decide.
import { type RefObject, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { livingOf, memoryQuery, type Living } from '@/api/life';
import { ActDialog } from '@/parts/acts/ActDialog';
import type { Perform } from '@/parts/acts/useActs';
import { IconCircleCheck, IconCircleX } from '@tabler/icons-react';
import { VisuallyHidden } from '@mantine/core';
import { useShortcuts } from '@/app/useShortcuts';
import { Panel } from '@/parts/Panel';
import { afterSkipping } from '@/parts/queuePlace';
import { reasonOf } from '@/parts/errorText';
import { notify, notifyError } from '@/parts/undoable';
import { type KeyQueue, useWaitingKeys } from '@/parts/useWaitingKeys';
import { localeTag } from '@/i18n';
import { belief } from '@/parts/searchResult';
import { besides } from './besides';
import { type Action, DecisionBar } from './DecisionBar';
import { ItemText } from './ItemText';
import { Neighbours } from './Neighbour';
import classes from './Qa.module.css';
import { type QaDetail, type QaItem, useSimilar, type Verdict } from './queries';
import type { Queue, Review } from './useReview';

type Props = {
  id: string;
  item: UseQueryResult<QaDetail>;
  queue: Queue;
  review: Review;
  progress: { position: number; total: number } | null;
  /** Decisions whose keys were pressed before their items were there. */
  waiting: RefObject<KeyQueue<Action>>;
  onChoose: (id: string | null) => void;
  onWhence: (id: string) => void;
};

/** What is asked about it in a dialog; of a merge, with the other one. */
type Asked = { act: 'edit' | 'merge'; memories: readonly Living[] };

export function ReviewItem(props: Props) {
  const { id, item, queue, review, progress, waiting, onChoose, onWhence } = props;
  const { t } = useTranslation('qa');
  const similar = useSimilar(id);
  const client = useQueryClient();
  const [asked, setAsked] = useState<Asked | null>(null);
  const shown = item.data?.qa_id === id ? item.data : undefined;
  const near = shown ? besides(shown, similar.data?.items ?? []) : [];

  const judge = (verdict: Verdict) => shown && review.judge(shown, verdict);
  function openMerge() {
    const likely = near.find(({ against }) => !against) ?? near[0];
    if (likely) void askAbout('merge', likely.qa_id);
    else if (similar.data) notify(t('nothingSimilar'));
  }
  async function askAbout(act: Asked['act'], ...others: string[]) {
    const read = [id, ...others].map((each) => client.fetchQuery(memoryQuery(each)));
    try {
      setAsked({ act, memories: (await Promise.all(read)).map(livingOf) });
    } catch (thrown) {
      notifyError(reasonOf(thrown));
    }
  }
  const perform: Perform = async (change, [stays, gone]) => {
    if (!shown || !stays) return;
    if (change.act === 'edit') return review.correct(shown, change);
    const named = (ref?: string) => [shown, ...near].find(({ qa_id }) => qa_id === ref);
    const [into, from] = [named(stays.ref), named(gone?.ref)];
    if (into && from) review.merge(from, into, id);
  };

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
    edit: () => void askAbout('edit'),
    merge: openMerge,
    skip: () => onChoose(afterSkipping(queue.ids, id)),
    undo: () => void review.undoLast(),
  };
  // Without anything similar, M says so.
  const decide = (action: Action) => {
    if (asked || !(offered[action] || action === 'merge')) return false;
    run[action]();
    return action === 'approve' || action === 'reject';
  };
  const press = useWaitingKeys(waiting, shown ? id : null, decide);
  const key = (keys: string, action: Action) => ({
    keys,
    label: t(`keys.${action}`),
    run: () => (action === 'skip' ? decide(action) : press(action)),
  });
  useShortcuts([key('a', 'approve'), key('r', 'reject'), key('e', 'edit'), key('m', 'merge'), key('s', 'skip')]);

  return (
    <div className="column gap12">
      <DecisionBar offered={offered} run={run} progress={progress} />
      <Panel state={item} label={t('item.label')}>
        {(told) => (
          <>
            <ItemText item={told} onWhence={onWhence} />
            <div className={classes['judged']}>
              <Evidence item={told} />
              <Gatekeeper item={told} />
            </div>
          </>
        )}
      </Panel>
      {shown && (
        <Neighbours item={shown} near={near} similar={similar} onMerge={(other) => void askAbout('merge', other)} />
      )}
      {asked && (
        <ActDialog
          {...asked}
          // What is proven stays unless a person says otherwise.
          keeping={asked.memories[shown?.status === 'validated' ? 0 : 1]?.seq}
          onClose={() => setAsked(null)}
          perform={perform}
        />
      )}
    </div>
  );
}

const PROVEN = 0.75; // from which on trials alone validate a candidate

/** How far an item is believed, and from which reports that came about. */
function Evidence({ item }: { item: QaItem }) {
  const { t, i18n } = useTranslation(['qa', 'common']);
  const number = (count: number) => count.toLocaleString(localeTag(i18n.language));
  const value = item.confidence.toFixed(2);
  const reports = [
    ['shown', item.hits.shown],
    ['used', item.hits.used],
    ['worked', item.validations.success],
    ['failed', item.validations.failure],
  ] as const;
  const reported = reports.some(([, count]) => count > 0);
  return (
    <section className={classes['box']}>
      <h3>{t('evidence.title')}</h3>
      <div className="row gap12">
        <div
          role="meter"
          aria-label={t('evidence.title')}
          aria-valuemin={0}
          aria-valuemax={1}
          aria-valuenow={item.confidence}
          aria-valuetext={t('evidence.meter', { value })}
          className={classes['meter']}
        >
          <span style={{ width: `${item.confidence * 100}%` }} />
          <i style={{ insetInlineStart: `${PROVEN * 100}%` }} />
        </div>
        <strong title={t('queue.confidence', { value })}>{t(`common:believed.${belief(item.confidence)}`)}</strong>
      </div>
      <dl className={classes['reports']}>
        {reports.map(([name, count]) => (
          <div key={name}>
            <dt>{t(`evidence.${name}`)}</dt>
            <dd>{number(count)}</dd>
          </div>
        ))}
      </dl>
      <p className={classes['why']}>{reported ? t('evidence.some') : t('evidence.none')}</p>
      {item.status === 'candidate' && <p className={classes['why']}>{t('evidence.line')}</p>}
    </section>
  );
}

/** What the gatekeeper's rules say of the text as it stands. */
function Gatekeeper({ item }: { item: QaDetail }) {
  const { t, i18n } = useTranslation('qa');
  const { mode, rules } = item.gatekeeper;
  return (
    <section className={classes['box']}>
      <h3>{t('gate.title')}</h3>
      <ul className={classes['rules']}>
        {rules.map((rule) => (
          <li key={rule.name} data-passed={rule.passed}>
            {rule.passed ? <IconCircleCheck size={16} aria-hidden /> : <IconCircleX size={16} aria-hidden />}
            <span>
              <strong>{t(`gate.${rule.name}`)}</strong>{' '}
              <VisuallyHidden>{rule.passed ? t('gate.passed') : t('gate.broken')}</VisuallyHidden>
              <span className={classes['why']}>{i18n.language === 'zh' ? rule.why_zh : rule.why}</span>
            </span>
          </li>
        ))}
      </ul>
      <p className={classes['why']}>{mode ? t('gate.mode', { mode }) : t('gate.noMode')}</p>
    </section>
  );
}
