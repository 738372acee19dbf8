// The review of questions and answers: shelves, the queue, and one item at a time. Everything works by keys alone.
import { Tabs } from '@mantine/core';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { choice, text, useSearchState } from '@/app/searchState';
import { useShortcuts } from '@/app/useShortcuts';
import { localeTag } from '@/i18n';
import { Page } from '@/parts/Page';
import { Panel } from '@/parts/Panel';
import { ProvenanceDrawer } from '@/parts/ProvenanceDrawer';
import { SplitView } from '@/parts/SplitView';
import classes from './Qa.module.css';
import type { Draft } from './EditForm';
import { QaFilters } from './QaFilters';
import { prepare, useCounts, useItem } from './queries';
import { QueueList } from './QueueList';
import { ReviewItem } from './ReviewItem';
import { freshOf, neighbourOf, progressOf, SHELVES, shelfOf, STATUSES, type Shelf } from './shelves';
import { useQueue } from './useQueue';
import { useReview } from './useReview';

const SCHEMA = { status: choice(SHELVES, 'candidate'), project: text(), q: text(), sel: text() };

export function QaPage() {
  const { t, i18n } = useTranslation('qa');
  const client = useQueryClient();
  const [state, set] = useSearchState(SCHEMA);
  const { status: shelf, project, sel } = state;
  const words = shelf === 'expired' ? '' : state.q;
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
  const drafts = useRef(new Map<string, Draft>());
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
        <QaFilters
          project={project}
          words={state.q}
          searchable={shelf !== 'expired'}
          known={queue.rows.map((row) => row.project)}
          onChange={(change) => set({ ...change, sel: '' })}
        />
      }
    >
      <Tabs value={shelf} onChange={(value) => set({ status: value as Shelf, sel: '' })}>
        <Tabs.List aria-label={t('shelf.label')} className={classes['tabs']}>
          {SHELVES.map((each) => (
            <Tabs.Tab
              key={each}
              value={each}
              rightSection={numbers && <span className={classes['count']}>{written(numbers(each))}</span>}
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
                    drafts={drafts.current}
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
