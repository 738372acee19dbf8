// Batches of runs: all of them, newest first, by status and by words of the request.
import { Button, Group, Select, TextInput } from '@mantine/core';
import { IconPlus, IconSearch } from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { usePages } from '@/api/queries';
import { choice, text, useSearchState } from '@/app/searchState';
import { NewRows } from '@/parts/NewRows';
import { Page } from '@/parts/Page';
import { Panel } from '@/parts/Panel';
import { VirtualRows } from '@/parts/VirtualRows';
import { BatchRow } from './BatchRow';
import { fetchBatches, STATUSES, type Batch } from '@/api/lab';
import { useActiveBatches } from './useActiveBatches';
import { useTyped } from '@/parts/useTyped';

const SCHEMA = { status: choice(['', ...STATUSES], ''), q: text() };
const TRY = "codexmem batch new 'Cu on TiO2 for C2H4 from CO2' --runs 2 --recipes 1 --dry-run";

export function BatchesPage() {
  const { t } = useTranslation(['lab', 'common']);
  const navigate = useNavigate();
  const [{ status, q }, set] = useSearchState(SCHEMA);
  const [typed, setTyped] = useTyped(q, (words) => set({ q: words }, { replace: true }));
  const key = useMemo(() => ['lab', 'batches', { status, q }], [status, q]);
  const list = usePages<Batch>(key, async (cursor) => {
    const page = await fetchBatches(cursor, status ? [status] : [], q);
    return { rows: page.items, next: page.next_cursor };
  });
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
        <Select
          aria-label={t('status')}
          w={160}
          allowDeselect={false}
          value={status}
          onChange={(value) => set({ status: SCHEMA.status.parse(value ?? '') })}
          data={[
            { value: '', label: t('anyStatus') },
            ...STATUSES.map((word) => ({ value: word, label: t(`common:status.${word}`) })),
          ]}
        />
        <TextInput
          type="search"
          aria-label={t('searchRequests')}
          placeholder={t('searchRequests')}
          leftSection={<IconSearch size={14} />}
          w={260}
          maxLength={200}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <NewRows count={filter ? 0 : fresh} onShow={() => void restart()} />
      </Group>
      <Panel
        label={t('batches')}
        flush
        state={query}
        isEmpty={() => !list.rows.length && !list.hasMore}
        empty={{ title: t('noBatches'), why: t('noBatchesWhy'), command: TRY }}
        filtered={
          filter ? { text: t('noBatchesFiltered', { filter }), onClear: () => set({ status: '', q: '' }) } : undefined
        }
      >
        <VirtualRows
          rows={shown}
          keyOf={(batch) => batch.batch_id}
          render={(batch) => <BatchRow batch={batch} />}
          label={t('batches')}
          onOpen={(batch) => void navigate({ to: '/ui/batches/$id', params: { id: batch.batch_id } })}
          onEndReached={more}
          loadingMore={list.loadingMore}
          height={Math.min(560, Math.max(1, shown.length) * 52 - 1)}
          rowHeight={52}
        />
      </Panel>
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
