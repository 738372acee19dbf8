// What waits for a person, of all kinds: proposals, duplicates and contradictions. Everything works by keys alone.
import '@mantine/core/styles/Tabs.layer.css';
import { Button, Tabs } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { choice, text, useSearchState } from '@/app/searchState';
import { ListPanel } from '@/parts/ListPanel';
import { useShortcuts } from '@/app/useShortcuts';
import { inReview, type ReviewTotals } from '@/api/review';
import { localeTag } from '@/i18n';
import { Page } from '@/parts/Page';
import { Panel } from '@/parts/Panel';
import { ProjectSelect } from '@/parts/ProjectSelect';
import { neighbourOf, progressOf } from '@/parts/queuePlace';
import { SplitView } from '@/parts/SplitView';
import { TextLink } from '@/parts/TextLink';
import { reasonOf } from '@/parts/errorText';
import { notify, notifyError } from '@/parts/undoable';
import { brief, useDecisions } from '@/parts/useDecisions';
import { useQueue } from '@/parts/useQueue';
import { useTyped } from '@/parts/useTyped';
import { useKeyQueue, useWaitingKeys } from '@/parts/useWaitingKeys';
import { TimeText } from '@/parts/TimeText';
import { FindingDetail } from './FindingDetail';
import { countsQuery, decide, type Decision, type Finding, findings, lookNow, REASONS, takeBack } from './queries';
import { plainLine } from '@/parts/snippet';
import classes from './Review.module.css';

const SHELVES = ['all', ...REASONS] as const;
const SCHEMA = { reason: choice(SHELVES, 'all'), project: text(), sel: text() };
export type Key = 'approve' | 'reject' | 'merge' | 'supersede' | 'keep';

/** What a key decides about an item; null where it means nothing. */
export function meantBy(key: Key, finding: Finding): Decision | null {
  if (finding.older) return key === 'approve' ? 'keep' : key === 'reject' ? 'hide' : key;
  return key === 'approve' || key === 'reject' ? key : null;
}

export function ReviewPage() {
  const { t, i18n } = useTranslation('life');
  const client = useQueryClient();
  const [state, set] = useSearchState(SCHEMA);
  const { reason, project } = state;
  const [sel, choose] = useTyped(state.sel, (id) => set({ sel: id }, { replace: true }));
  const queue = useQueue<Finding>(['review', 'list', reason, project], (cursor) => findings(reason, project, cursor));
  const counts = useQuery(countsQuery(project));
  const current = queue.rows.find(({ id }) => id === sel) ?? queue.rows[0] ?? null;

  // A page may hold nothing that still waits although there is more.
  const { more } = queue;
  const bare = queue.query.isSuccess && !queue.rows.length && queue.hasMore && !queue.loadingMore;
  useEffect(() => {
    if (bare) more();
  }, [bare, more]);

  const refresh = useCallback(async () => {
    client.removeQueries({ predicate: ({ queryKey: [area] }) => area !== 'review', type: 'inactive' });
    await Promise.all(['counts', 'waiting'].map((thing) => client.invalidateQueries({ queryKey: ['review', thing] })));
  }, [client]);
  const review = useDecisions({
    refresh,
    failed: (why) => t('review.failed', { reason: why }),
    nothingToUndo: t('review.nothingToUndo'),
  });

  function make(decision: Decision, finding: Finding) {
    const { id, newer } = finding;
    choose(neighbourOf(queue.ids, id) ?? '');
    const comeBack = queue.leave(id);
    const done = decision === 'reopen' ? 'keep' : decision;
    review.act(
      t(`review.done.${done}`, { what: brief(plainLine(newer.title) || newer.ref) }),
      decide(finding, decision),
      takeBack(finding, decision),
      () => {
        comeBack();
        choose(id);
      },
    );
  }

  const look = useMutation({
    mutationFn: lookNow,
    onSuccess: (count) => {
      notify(count ? t('review.looked', { count }) : t('review.lookedNothing'));
      void queue.restart();
      void refresh();
    },
    onError: (thrown) => notifyError(reasonOf(thrown)),
  });

  const over = queue.query.isSuccess && !current && !queue.hasMore;
  const waiting = useKeyQueue<Key>(over);
  const act = useWaitingKeys<Key>(waiting, current?.id ?? null, (key) => {
    const decision = current && meantBy(key, current);
    if (decision) make(decision, current);
    return decision !== null;
  });
  const press = (key: Key) => !over && act(key);
  useShortcuts([
    { keys: 'a', label: t('review.keys.approve'), run: () => press('approve') },
    { keys: 'r', label: t('review.keys.reject'), run: () => press('reject') },
    { keys: 'm', label: t('review.keys.merge'), run: () => press('merge') },
    { keys: 's', label: t('review.keys.supersede'), run: () => press('supersede') },
    // k alone moves up in every list.
    { keys: 'K', label: t('review.keys.keep'), run: () => press('keep') },
    { keys: 'u', label: t('review.keys.undo'), run: () => void review.undoLast() },
  ]);

  const written = (count: number) => {
    const number = count.toLocaleString(localeTag(i18n.language));
    return counts.data && count >= counts.data.most ? `${number}+` : number;
  };
  const total = counts.data ? countOf(counts.data, reason) : queue.rows.length;
  const progress =
    current && progressOf(queue.ids, current.id, queue.decided, queue.decided + Math.max(total, queue.rows.length));
  const list = (
    <FindingList
      queue={queue}
      current={current?.id ?? null}
      project={project}
      reason={reason}
      onSelect={(id) => choose(id)}
      onClear={() => set({ project: '', reason: 'all', sel: '' })}
    />
  );
  const questions = counts.data?.qa_candidates ?? 0;
  return (
    <Page
      title={t('review.title')}
      description={t('review.description')}
      actions={
        <>
          <Button variant="default" loading={look.isPending} onClick={() => look.mutate()}>
            {t('review.look')}
          </Button>
          <ProjectSelect value={project} onChange={(chosen) => set({ project: chosen, sel: '' })} bare />
        </>
      }
    >
      <Tabs value={reason} onChange={(value) => set({ reason: SCHEMA.reason.parse(value ?? ''), sel: '' })}>
        <Tabs.List aria-label={t('review.queue')}>
          {SHELVES.map((each) => (
            <Tabs.Tab
              key={each}
              value={each}
              rightSection={counts.data && <span className="count">{written(countOf(counts.data, each))}</span>}
            >
              {t(`review.reasons.${each}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={reason} pt="lg" tabIndex={-1}>
          {questions > 0 && (
            <p className={classes['questions']}>
              {t('review.qa', { count: questions })}{' '}
              <TextLink to={`/ui/qa${project ? `?project=${encodeURIComponent(project)}` : ''}`}>
                {t('review.qaOpen')}
              </TextLink>
            </p>
          )}
          {queue.query.isSuccess && !current ? (
            list
          ) : (
            <SplitView
              chosen={state.sel !== ''}
              onBack={() => choose('')}
              leftWidth="minmax(250px, 1fr)"
              left={list}
              right={
                current ? (
                  <FindingDetail
                    key={current.id}
                    finding={current}
                    progress={progress}
                    undoes={review.undoes}
                    onDecide={(decision) => make(decision, current)}
                    onUndo={() => void review.undoLast()}
                  />
                ) : (
                  <Panel label={t('review.item')} state={{ ...queue.query, data: undefined }}>
                    {null}
                  </Panel>
                )
              }
            />
          )}
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function countOf(counts: ReviewTotals, reason: (typeof SHELVES)[number]): number {
  return reason === 'all' ? inReview(counts) : counts[reason];
}

type Props = {
  queue: ReturnType<typeof useQueue<Finding>>;
  current: string | null;
  project: string;
  reason: string;
  onSelect: (id: string) => void;
  onClear: () => void;
};

const ROW = 58;

/** What waits, one line each: what it is about, why it waits, and since when. */
function FindingList({ queue, current, project, reason, onSelect, onClear }: Props) {
  const { t } = useTranslation('life');
  return (
    <ListPanel
      list={queue}
      title={t('review.queue')}
      empty={{ title: t('review.empty.title'), why: t('review.empty.why'), command: 'codexmem review' }}
      filtered={project || reason !== 'all' ? { text: t('review.filtered'), onClear } : undefined}
      label={t('review.list')}
      keyOf={(row) => row.id}
      rowHeight={ROW}
      most="min(70vh, 640px)"
      selectedKey={current}
      onSelect={(row) => onSelect(row.id)}
      render={(row) => (
        <div className={`${classes['line']} column grow gap2`}>
          <div className="bold cut" dir="auto">
            {plainLine(row.newer.title) || row.newer.ref}
          </div>
          <div className={classes['about']}>
            <span data-reason={row.reason} className={`${classes['reason']} info fixed`}>
              {t(`review.reason.${row.reason}`)}
            </span>
            {!project && <span className={classes['project']}>{row.newer.project}</span>}
            <TimeText at={row.found_ms} />
          </div>
        </div>
      )}
    />
  );
}
