// Notes as a tree of addresses and a list with filters.
import { Button, CloseButton, Select } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate } from '@tanstack/react-router';
import { choice, text, useSearchState } from '@/app/searchState';
import { ListPanel } from '@/parts/ListPanel';
import { useShortcuts } from '@/app/useShortcuts';
import { localeTag } from '@/i18n';
import { Page } from '@/parts/Page';
import { Panel } from '@/parts/Panel';
import { SearchInput } from '@/parts/SearchInput';
import { SavedViews } from '@/parts/SavedViews';
import { AddressTree } from './AddressTree';
import { type Range, rangeOf } from './addresses';
import { LifeMarks } from '@/parts/acts/LifeMarks';
import { NewDialog } from '@/parts/acts/NewDialog';
import { useSelecting } from '@/parts/acts/useSelecting';
import { FilterFold } from '@/parts/FilterFold';
import { usePages } from '@/api/queries';
import { NewRows } from '@/parts/NewRows';
import { MemoryPeek } from '@/parts/Peek';
import { memoryPage } from '@/parts/reference';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import { PriorityBadge } from '@/parts/PriorityBadge';
import {
  newestQuery,
  type NoteFound,
  notePage,
  type NotePage,
  statsQuery,
  type Status,
  STATUSES,
  type Wish,
} from './queries';
import { plainLine } from '@/parts/snippet';
import classes from './Memories.module.css';

const SCHEMA = {
  domain: text(),
  status: choice(['', ...STATUSES], ''),
  prio: text(),
  q: text(),
  new: text(), // "1", or the address that a new note shall have
};

export function NotesPage() {
  const { t, i18n } = useTranslation(['notes', 'common']);
  const [state, set] = useSearchState(SCHEMA);
  const stats = useQuery(statsQuery);
  useShortcuts([{ keys: 'n', label: t('new.open'), group: 'here', run: () => set({ new: '1' }) }]);
  const total = stats.data?.total ?? null;
  const range = rangeOf(state.prio);
  const wish: Wish = {
    ...(state.domain ? { domain: state.domain } : {}),
    ...(state.status ? { status: state.status } : {}),
    ...(range ? { priority_min: range.from, priority_max: range.to } : {}),
    ...(state.q.trim() ? { q: state.q.trim() } : {}),
  };
  const shown = total?.toLocaleString(localeTag(i18n.language));
  const count = total === null ? '' : t('count', { count: total, shown });
  return (
    <Page
      title={t('title')}
      description={t('description')}
      actions={
        <>
          <SavedViews />
          <Button leftSection={<IconPlus size={14} />} onClick={() => set({ new: '1' })}>
            {t('new.open')}
          </Button>
        </>
      }
    >
      <div className={classes['columns']}>
        <Panel title={t('tree.title')} actions={<span className="muted size12">{count}</span>} flush>
          <AddressTree
            current={state.domain ? `${state.domain}://` : null}
            onDomain={(domain) => set({ domain: domain === state.domain ? '' : domain })}
          />
        </Panel>
        <div className={`${classes['found']} column gap12`}>
          <NoteFilters
            domain={state.domain}
            status={state.status}
            range={range}
            words={state.q}
            domains={stats.data?.domains ?? {}}
            onChange={(change) => set(change, { replace: 'q' in change })}
          />
          <NoteList wish={wish} onClear={() => set({ domain: '', status: '', prio: '', q: '' })} />
        </div>
      </div>
      <NewDialog
        kind="note"
        opened={state.new !== ''}
        suggested={state.new.includes('://') ? state.new : state.domain ? `${state.domain}://` : ''}
        onClose={() => set({ new: '' }, { replace: true })}
      />
    </Page>
  );
}

type Change = { domain: string } | { status: Status | '' } | { prio: string } | { q: string };
type Props = {
  domain: string;
  status: Status | '';
  range: Range | null;
  words: string;
  domains: Readonly<Record<string, number>>;
  onChange: (change: Change) => void;
};

const RANGES = ['0-2', '3-5', '6-10'] as const;

/** What the list of notes is narrowed to: words, domain, status, priority. */
function NoteFilters({ domain, status, range, words, domains, onChange }: Props) {
  const { t } = useTranslation(['notes', 'common']);
  const written = range ? `${range.from}-${range.to}` : '';
  const ranges = written && !RANGES.some((each) => each === written) ? [...RANGES, written] : RANGES;
  const named = [...new Set([...Object.keys(domains), ...(domain ? [domain] : [])])].sort();
  return (
    <FilterFold
      values={[domain, status, range]}
      lead={
        <SearchInput
          className={classes['words'] ?? ''}
          label={t('filters.words')}
          placeholder={t('filters.wordsHint')}
          rightSection={
            words && <CloseButton size="xs" aria-label={t('filters.clearWords')} onClick={() => onChange({ q: '' })} />
          }
          value={words}
          onChange={(q) => onChange({ q })}
        />
      }
    >
      <Select
        className={classes['filter']}
        label={t('filters.domain')}
        placeholder={t('filters.all')}
        data={named.map((name) => ({ value: name, label: `${name}://` }))}
        value={domain || null}
        onChange={(value) => onChange({ domain: value ?? '' })}
        clearable
        searchable={named.length > 10}
      />
      <Select
        className={classes['filter']}
        label={t('filters.status')}
        placeholder={t('filters.standing')}
        data={STATUSES.map((each) => ({ value: each, label: t(`common:status.${each}`) }))}
        value={status || null}
        onChange={(value) => onChange({ status: STATUSES.find((each) => each === value) ?? '' })}
        clearable
      />
      <Select
        className={classes['filter']}
        label={t('filters.priority')}
        placeholder={t('filters.all')}
        data={ranges.map((each) => ({ value: each, label: rangeName(each) }))}
        value={written || null}
        onChange={(value) => onChange({ prio: value ?? '' })}
        clearable
      />
    </FilterFold>
  );

  function rangeName(each: string): string {
    const [from, to] = each.split('-');
    return each === '0-2' ? t('filters.core') : t('filters.range', { from, to });
  }
}

const ROW = 56;
const EXAMPLE = 'codexmem memory create project://config "…"';

/** The notes that fit the filters, the newest or the best first. */
function NoteList({ wish, onClear }: { wish: Wish; onClear: () => void }) {
  const { t } = useTranslation(['notes', 'common', 'memory']);
  const navigate = useNavigate();
  const list = usePages(['notes', 'list', wish], (cursor) => notePage(wish, cursor));
  const newest = useQuery(newestQuery(wish));
  const fresh = behind(list.rows, newest.data);
  const degraded = (list.query.data?.pages as NotePage[] | undefined)?.[0]?.degraded ?? [];
  const { words, set } = useWishText(wish);
  const { toggle, bar } = useSelecting(list.rows);
  return (
    <ListPanel
      list={list}
      title={wish.q ? t('list.found') : t('list.newest')}
      empty={{ title: t('list.empty'), why: t('list.emptyWhy'), command: EXAMPLE }}
      filtered={set ? { text: t('list.none', { filters: words }), onClear } : undefined}
      degraded={degraded.length ? t('list.degraded', { why: degraded.join(' ') }) : null}
      actions={<NewRows count={fresh} onShow={() => void list.restart()} />}
      keyOf={(row) => row.id}
      label={t('list.label')}
      rowHeight={ROW}
      onOpen={(row) => void navigate({ to: memoryPage(row.uri) ?? '.' })}
      peek={(row) => <MemoryPeek reference={row.uri} />}
      render={(row) => <NoteLine row={row} />}
      toggle={toggle}
      below={bar}
      most="60vh"
    />
  );
}

/** The filters that are on, in words: an empty list has to name them. */
function useWishText(wish: Wish): { words: string; set: boolean } {
  const { t } = useTranslation(['notes', 'common', 'memory']);
  const { q, domain, status, priority_min: from, priority_max: to } = wish;
  const named = [
    q === undefined ? null : t('list.filter.words', { words: q }),
    domain === undefined ? null : t('list.filter.domain', { domain }),
    status === undefined ? null : t('list.filter.status', { status: t(`common:status.${status}`) }),
    from === undefined ? null : t('filters.range', { from, to }),
  ].filter((each) => each !== null);
  return { words: named.join(t('memory:versions.comma')), set: named.length > 0 };
}

/** How many of the newest are not in the list yet, or were written since it was read. */
function behind(rows: readonly NoteFound[], newest: readonly NoteFound[] | undefined): number {
  if (!newest) return 0;
  const known = new Map(rows.map((row) => [row.id, row.version]));
  return newest.filter((row) => (known.get(row.id) ?? 0) < row.version).length;
}

function NoteLine({ row }: { row: NoteFound }) {
  const { t } = useTranslation(['notes', 'memory']);
  return (
    <div className={classes['row']}>
      <Link to={memoryPage(row.uri) ?? '.'} tabIndex={-1} className={`${classes['address']} cut`} title={row.uri}>
        {row.uri}
      </Link>
      <span className={`${classes['headline']} cut`}>{plainLine(row.headline)}</span>
      <span className={classes['marks']}>
        {row.status !== 'active' && <StatusMark status={row.status} />}
        <LifeMarks life="active" marks={row.marks} />
        <span>{t('memory:version', { version: row.version })}</span>
        <PriorityBadge priority={row.priority} />
      </span>
      <span className={classes['when']}>
        <TimeText at={row.updated_ms} />
      </span>
    </div>
  );
}
