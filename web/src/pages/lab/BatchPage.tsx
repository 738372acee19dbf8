// One batch: what was asked, how far it is, and its runs.
import { Badge, Button, Group, Select } from '@mantine/core';
import { IconRepeat } from '@tabler/icons-react';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { usePages } from '@/api/queries';
import { choice, useSearchState } from '@/app/searchState';
import { CopyButton } from '@/parts/CopyButton';
import { Page } from '@/parts/Page';
import { Panel } from '@/parts/Panel';
import { StatusMark } from '@/parts/StatusMark';
import { VirtualRows } from '@/parts/VirtualRows';
import { BatchFacts } from './BatchFacts';
import { CancelButton } from './CancelButton';
import { fetchRuns, shownStatus, STATUSES, useBatch, type Batch, type Run } from '@/api/lab';
import { RunRow } from './RunRow';
import { RunsProgress } from './RunsProgress';

const SCHEMA = { status: choice(['', ...STATUSES], '') };

export function BatchPage() {
  const { t } = useTranslation(['lab', 'common']);
  const { id = '' } = useParams({ strict: false });
  const query = useBatch(id);
  const batch = query.data;
  return (
    <Page
      title={t('batch')}
      description={
        <Group gap="sm">
          <code>{id}</code>
          <CopyButton value={id} label={t('common:id')} />
          {batch && <StatusMark status={shownStatus(batch)} />}
          {batch?.dry_run && <Badge color="slate">{t('dryRun')}</Badge>}
        </Group>
      }
      actions={
        batch && (
          <>
            <Button
              variant="default"
              leftSection={<IconRepeat size={14} />}
              renderRoot={(props) => <Link {...props} to="/ui/batches/new" search={{ from: id } as never} />}
            >
              {t('details.again')}
            </Button>
            <CancelButton batch={batch} />
          </>
        )
      }
    >
      <Panel title={t('details.title')} state={query}>
        {(found) => <BatchFacts batch={found} />}
      </Panel>
      {batch && <Runs batch={batch} />}
    </Page>
  );
}

function Runs({ batch }: { batch: Batch }) {
  const { t } = useTranslation(['lab', 'common']);
  const navigate = useNavigate();
  const [{ status }, set] = useSearchState(SCHEMA);
  const id = batch.batch_id;
  const key = useMemo(() => ['lab', 'runs', id, { status }], [id, status]);
  const list = usePages<Run>(key, async (cursor) => {
    const page = await fetchRuns(id, cursor, status ? [status] : []);
    return { rows: page.items, next: page.next_cursor };
  });
  // A batch has a thousand runs at most, so its few pages may be read again whenever one of them has moved on.
  const moved = JSON.stringify([batch.runs_by_status, batch.cancel_id]);
  const { refetch } = list.query;
  useEffect(() => void refetch(), [moved, refetch]);
  return (
    <Panel
      title={t('runs')}
      flush
      state={list.query}
      isEmpty={() => !list.rows.length}
      empty={{ title: t('noRuns'), why: t('noRunsWhy') }}
      filtered={
        status
          ? {
              text: t('noRunsFiltered', { status: t(`common:status.${status}`) }),
              onClear: () => set({ status: '' }),
            }
          : undefined
      }
      actions={
        <Group gap="lg">
          <RunsProgress batch={batch} />
          <Select
            aria-label={t('status')}
            w={140}
            allowDeselect={false}
            value={status}
            onChange={(value) => set({ status: SCHEMA.status.parse(value ?? '') })}
            data={[
              { value: '', label: t('anyStatus') },
              ...STATUSES.map((word) => ({ value: word, label: t(`common:status.${word}`) })),
            ]}
          />
        </Group>
      }
    >
      <VirtualRows
        rows={list.rows}
        keyOf={(run) => run.run_id}
        render={(run) => <RunRow run={run} />}
        label={t('runs')}
        total={status ? undefined : batch.n_runs}
        onOpen={(run) => void navigate({ to: '/ui/runs/$id', params: { id: run.run_id } })}
        onEndReached={list.more}
        loadingMore={list.loadingMore}
        height={`min(60vh, ${list.rows.length * 40 - 1}px)`}
        rowHeight={40}
      />
    </Panel>
  );
}
