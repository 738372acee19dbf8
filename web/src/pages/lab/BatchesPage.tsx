// Batches of runs: all of them, newest first, by status and by words of the request.
import { Badge, Button, Group } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useQuery } from '@tanstack/react-query';
import { paged } from '@/api/client';
import { usePages } from '@/api/queries';
import { SearchInput } from '@/parts/SearchInput';
import { FilterSelect } from '@/parts/FilterSelect';
import { ListPanel } from '@/parts/ListPanel';
import { choice, text, useSearchState } from '@/app/searchState';
import { NewRows } from '@/parts/NewRows';
import { Page } from '@/parts/Page';
import { type Batch, ended, fetchBatches, LARGEST_PAGE, shownStatus, STATUSES } from '@/api/lab';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import { CancelButton } from './CancelButton';
import { RunsProgress } from './RunsProgress';
import classes from './Lab.module.css';

const SCHEMA = { status: choice(['', ...STATUSES], ''), q: text() };
const TRY = "codexmem batch new 'Cu on TiO2 for C2H4 from CO2' --runs 2 --recipes 1 --dry-run";

export function BatchesPage() {
  const { t } = useTranslation(['lab', 'common']);
  const navigate = useNavigate();
  const [{ status, q }, set] = useSearchState(SCHEMA);
  const list = usePages<Batch>(['lab', 'batches', { status, q }], async (cursor) =>
    paged(await fetchBatches(cursor, status ? [status] : [], q)),
  );
  const { query, restart } = list;
  const { refetch } = query;
  const reload = useCallback(() => void refetch(), [refetch]);
  const { shown, fresh } = useActiveBatches(list.rows, reload);
  // A page of a search may hold nothing although a later one does.
  const { more } = list;
  const on = !list.rows.length && list.hasMore;
  useEffect(() => {
    if (on) more();
  }, [on, more]);
  const filter = useFilterText(status, q);

  return (
    <Page
      title={t('batches')}
      description={t('batchesDescription')}
      actions={
        <Button renderRoot={(props) => <Link {...props} to="/ui/batches/new" />} leftSection={<IconPlus size={14} />}>
          {t('newBatch')}
        </Button>
      }
    >
      <Group gap="sm" align="flex-end">
        <FilterSelect
          label={t('status')}
          bare
          unset={t('anyStatus')}
          words={STATUSES}
          nameOf={(word) => t(`common:status.${word}`)}
          value={status}
          onChange={(word) => set({ status: word })}
          w={160}
        />
        <SearchInput
          label={t('searchRequests')}
          w={260}
          maxLength={200}
          value={q}
          onChange={(words) => set({ q: words }, { replace: true })}
        />
        <NewRows count={filter ? 0 : fresh} onShow={() => void restart()} />
      </Group>
      <ListPanel
        list={list}
        empty={{ title: t('noBatches'), why: t('noBatchesWhy'), command: TRY }}
        filtered={
          filter ? { text: t('noBatchesFiltered', { filter }), onClear: () => set({ status: '', q: '' }) } : undefined
        }
        rows={shown}
        keyOf={(batch) => batch.batch_id}
        render={(batch) => <BatchRow batch={batch} />}
        label={t('batches')}
        onOpen={(batch) => void navigate({ to: '/ui/batches/$id', params: { id: batch.batch_id } })}
        rowHeight={52}
        most="560px"
      />
    </Page>
  );
}

/** The filter in words, for "nothing matches …"; empty without one. */
function useFilterText(status: '' | (typeof STATUSES)[number], q: string): string {
  const { t } = useTranslation(['lab', 'common']);
  const word = status && t(`common:status.${status}`);
  if (word && q) return t('filterBoth', { status: word, text: q });
  if (word) return t('filterStatus', { status: word });
  return q ? t('filterText', { text: q }) : '';
}

const SHOWN = 300; // characters of a request that a row can hold at most

/** One batch in the list: status, request, progress, age, and the way to stop it. */
function BatchRow({ batch }: { batch: Batch }) {
  const { t } = useTranslation('lab');
  return (
    <div className={`${classes['batch']} row grow gap12`}>
      <span className={classes['status']}>
        <StatusMark status={shownStatus(batch)} />
      </span>
      <span className={`${classes['request']} cut grow`} title={batch.batch_id}>
        {batch.user_request.slice(0, SHOWN)}
      </span>
      {batch.dry_run && <Badge color="slate">{t('dryRun')}</Badge>}
      <RunsProgress batch={batch} />
      <span className={classes['age']}>
        <TimeText at={batch.created_at * 1_000} />
      </span>
      <span className={classes['act']}>
        <CancelButton batch={batch} small />
      </span>
    </div>
  );
}

const BUSY_MS = 1_500;
const IDLE_MS = 10_000;

/**
 * Keeps a list of batches up to date without moving it: batches that go on are asked for by themselves, those that
 * have ended since are read again with their list, and new ones are only counted.
 */
function useActiveBatches(rows: readonly Batch[], reload: () => void) {
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
