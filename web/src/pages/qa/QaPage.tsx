// The review of questions and answers: shelves, the queue, and one item at a time. Everything works by keys alone.
import '@mantine/core/styles/Tabs.layer.css';
import { Group, Tabs, Tooltip, VisuallyHidden } from '@mantine/core';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { IconArrowsSplit2 } from '@tabler/icons-react';
import { choice, text, useSearchState } from '@/app/searchState';
import { ListPanel } from '@/parts/ListPanel';
import { useShortcuts } from '@/app/useShortcuts';
import { localeTag } from '@/i18n';
import { Page } from '@/parts/Page';
import { Panel } from '@/parts/Panel';
import { ProjectSelect } from '@/parts/ProjectSelect';
import { ProvenanceDrawer } from '@/parts/ProvenanceDrawer';
import { neighbourOf, progressOf } from '@/parts/queuePlace';
import { SearchInput } from '@/parts/SearchInput';
import { SplitView } from '@/parts/SplitView';
import { useKeyQueue, wait } from '@/parts/useWaitingKeys';
import { LifeMarks } from '@/parts/acts/LifeMarks';
import { useSelecting } from '@/parts/acts/useSelecting';
import { NewRows } from '@/parts/NewRows';
import { belief } from '@/parts/searchResult';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import classes from './Qa.module.css';
import { prepare, type QueueRow, useCounts, useItem } from './queries';
import type { Action } from './DecisionBar';
import { ReviewItem } from './ReviewItem';
import { freshOf, type Shelf, shelfOf, SHELVES, STATUSES } from './shelves';
import { type Queue, useQueue, useReview } from './useReview';

const EARLY = [
  ['a', 'approve'],
  ['r', 'reject'],
] as const;
const SCHEMA = { status: choice(SHELVES, 'candidate'), project: text(), q: text(), sel: text() };

export function QaPage() {
  const { t, i18n } = useTranslation('qa');
  const client = useQueryClient();
  const [state, set] = useSearchState(SCHEMA);
  const { status: shelf, project, sel } = state;
  const searchable = shelf !== 'expired';
  const words = searchable ? state.q : '';
  const queue = useQueue(shelf, project, words);
  const counts = useCounts(project);
  const [whence, setWhence] = useState<string | null>(null);

  // Without a choice the first of the queue is under review.
  const current = sel || queue.ids[0] || null;
  const chosenHere = useRef(new Set<string>());
  const choose = useCallback(
    (id: string | null) => {
      if (id) chosenHere.current.add(id);
      set({ sel: id ?? '' }, { replace: true });
    },
    [set],
  );
  const review = useReview(queue, choose);
  useShortcuts([{ keys: 'u', label: t('keys.undo'), run: () => void review.undoLast() }]);
  const coming = queue.query.isPending || queue.hasMore;
  const pressed = useKeyQueue<Action>(current === null && !coming);
  // Until there is an item, keys wait for it here.
  useShortcuts(
    current === null && coming
      ? EARLY.map(([keys, action]) => ({ keys, label: t(`keys.${action}`), run: () => wait(pressed, action) }))
      : [],
  );
  const item = useItem(current);

  // A link to an item names no shelf: go to the one on which it stands.
  const stands = item.data && item.data.qa_id === sel ? shelfOf(item.data.status) : null;
  useEffect(() => {
    if (!sel || stands === null || chosenHere.current.has(sel)) return;
    chosenHere.current.add(sel);
    if (stands !== shelf) set({ status: stands }, { replace: true });
  }, [sel, stands, shelf, set]);

  const next = current ? neighbourOf(queue.ids, current) : null;
  useEffect(() => {
    if (next) prepare(client, next);
  }, [client, next]);

  const numbers = useMemo(() => {
    const counted = counts.data;
    if (!counted) return null;
    return (each: Shelf) => STATUSES[each].reduce((sum, status) => sum + counted.counts[status], 0);
  }, [counts.data]);
  const written = (count: number) => {
    const number = count.toLocaleString(localeTag(i18n.language));
    return counts.data && count >= counts.data.counted_up_to ? t('atLeast', { number }) : number;
  };
  const waiting = counts.isPlaceholderData ? null : (counts.data?.counts.candidate ?? null);
  const fresh = shelf === 'candidate' ? freshOf(waiting, queue.counted, queue.decided) : 0;
  const bare = queue.query.isSuccess && queue.rows.length === 0;
  const { restart } = queue;
  useEffect(() => {
    // Where nothing is shown, nothing can move under the reader.
    if (fresh && bare) void restart();
  }, [fresh, bare, restart]);

  const left = queue.hasMore && numbers && !words ? Math.max(numbers(shelf), queue.rows.length) : queue.rows.length;
  const progress = current ? progressOf(queue.ids, current, queue.decided, queue.decided + left) : null;

  const list = (
    <QueueList
      queue={queue}
      shelf={shelf}
      project={project}
      words={words}
      current={current}
      fresh={fresh}
      onFresh={() => void restart()}
      onSelect={choose}
      onClear={() => set({ project: '', q: '', sel: '' })}
    />
  );
  return (
    <Page
      title={t('title')}
      description={t('description')}
      actions={
        <Group gap="sm" component="search">
          <ProjectSelect value={project} onChange={(chosen) => set({ project: chosen, sel: '' })} bare />
          <SearchInput
            label={searchable ? t('filter.words') : t('filter.wordsNot')}
            title={searchable ? undefined : t('filter.wordsOff')}
            disabled={!searchable}
            value={words}
            onChange={(q) => set({ q, sel: '' }, { replace: true })}
            w={240}
          />
        </Group>
      }
    >
      <Tabs value={shelf} onChange={(value) => set({ status: value as Shelf, sel: '' })}>
        <Tabs.List aria-label={t('shelf.label')}>
          {SHELVES.map((each) => (
            <Tabs.Tab
              key={each}
              value={each}
              rightSection={numbers && <span className="count">{written(numbers(each))}</span>}
            >
              {t(`shelf.${each}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={shelf} pt="lg" tabIndex={-1}>
          {bare && !current ? (
            list
          ) : (
            <SplitView
              chosen={sel !== ''}
              onBack={() => set({ sel: '' })}
              leftWidth="minmax(250px, 1fr)"
              left={list}
              right={
                current ? (
                  <ReviewItem
                    key={current}
                    id={current}
                    item={item}
                    queue={queue}
                    review={review}
                    progress={progress}
                    waiting={pressed}
                    onChoose={choose}
                    onWhence={setWhence}
                  />
                ) : (
                  <Panel label={t('item.label')} state={{ ...queue.query, data: undefined }}>
                    {null}
                  </Panel>
                )
              }
            />
          )}
        </Tabs.Panel>
      </Tabs>
      <ProvenanceDrawer reference={whence} onClose={() => setWhence(null)} />
    </Page>
  );
}

type QueueListProps = {
  queue: Queue;
  shelf: Shelf;
  project: string;
  words: string;
  current: string | null;
  fresh: number;
  onFresh: () => void;
  onSelect: (id: string | null) => void;
  onClear: () => void;
};

const ROW = 58;

/** The queue: one line per item, with how far it is believed and whether something contradicts it. */
function QueueList(props: QueueListProps) {
  const { queue, shelf, project, words, current, fresh, onFresh, onSelect, onClear } = props;
  const { t } = useTranslation('qa');
  const { toggle, bar } = useSelecting(queue.rows, (seqs) => {
    // Whoever looks at one of them goes on with the first that is left.
    if (queue.rows.some((row) => row.id === current && seqs.includes(row.seq))) onSelect(null);
  });
  const filter = project && words ? 'both' : words ? 'words' : 'project';
  return (
    <ListPanel
      list={queue}
      title={t('queue.title')}
      empty={t(`queue.empty.${shelf}`, { returnObjects: true })}
      filtered={project || words ? { text: t(`queue.filtered.${filter}`, { project, words }), onClear } : undefined}
      actions={fresh > 0 && <NewRows count={fresh} onShow={onFresh} />}
      label={t('queue.label')}
      keyOf={(row) => row.id}
      rowHeight={ROW}
      height="min(70vh, 640px)"
      selectedKey={current}
      onSelect={(row) => onSelect(row.id)}
      toggle={toggle}
      below={bar}
      render={(row) => <QueueLine row={row} shelf={shelf} project={!project} />}
    />
  );
}

/** Says only what the shelf and the filter do not say already. */
function QueueLine({ row, shelf, project }: { row: QueueRow; shelf: Shelf; project: boolean }) {
  const { t } = useTranslation(['qa', 'common']);
  const status = shelf === 'expired' || row.status !== shelf;
  return (
    <div className="column grow gap2">
      <div className="bold cut" dir="auto">
        {row.question}
      </div>
      <div className={classes['about']}>
        {status && <StatusMark status={row.status} />}
        <LifeMarks life="active" marks={row.marks} />
        {project && <span className={classes['project']}>{row.project}</span>}
        <TimeText at={row.created} />
        {row.contradicted && (
          <Tooltip label={t('queue.contradicted')}>
            <span className={classes['against']}>
              <IconArrowsSplit2 size={14} aria-hidden />
              <VisuallyHidden>{t('queue.contradicted')}</VisuallyHidden>
            </span>
          </Tooltip>
        )}
        {row.confidence !== null && (
          <Tooltip label={t('queue.confidence', { value: row.confidence.toFixed(2) })}>
            <span className="aside cut">{t(`common:believed.${belief(row.confidence)}`)}</span>
          </Tooltip>
        )}
      </div>
    </div>
  );
}
