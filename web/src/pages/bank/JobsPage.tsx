// Learnings over all runs: which wait, which are at work, and what became of the others.
import { Group, Select } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { usePages } from '@/api/queries';
import { choice, useSearchState } from '@/app/searchState';
import { NewRows } from '@/parts/NewRows';
import { Page } from '@/parts/Page';
import { Panel } from '@/parts/Panel';
import { VirtualRows } from '@/parts/VirtualRows';
import { BankNav } from './BankNav';
import { JobLine } from './JobLine';
import { JOB_STATUSES, jobPage, type Job } from './queries';
import { useFresh } from './useFresh';

const SCHEMA = { status: choice(['', ...JOB_STATUSES], '') };
const ROW = 44;
const keyOf = (job: Job) => job.rb_job_id;

export function JobsPage() {
  const { t } = useTranslation(['bank', 'common']);
  const navigate = useNavigate();
  const [{ status }, set] = useSearchState(SCHEMA);
  const key = useMemo(() => ['bank', 'jobs', { status }], [status]);
  const list = usePages(key, (cursor) => jobPage(status, cursor));
  const { shown, fresh } = useFresh(key, list.rows, keyOf, () => jobPage(status, null));
  return (
    <Page title={t('jobs')} description={t('jobsDescription')}>
      <BankNav />
      <Group gap="sm">
        <Select
          aria-label={t('status')}
          w={160}
          allowDeselect={false}
          value={status}
          onChange={(value) => set({ status: SCHEMA.status.parse(value ?? '') })}
          data={[
            { value: '', label: t('anyStatus') },
            ...JOB_STATUSES.map((word) => ({ value: word, label: t(`common:status.${word}`) })),
          ]}
        />
        <NewRows count={fresh} onShow={() => void list.restart()} />
      </Group>
      <Panel
        label={t('jobs')}
        flush
        state={list.query}
        isEmpty={() => !list.rows.length}
        empty={{ title: t('noJobs'), why: t('noJobsWhy'), command: 'codexmem rb learn RUN' }}
        filtered={
          status
            ? {
                text: t('noJobsFiltered', { status: t(`common:status.${status}`) }),
                onClear: () => set({ status: '' }),
              }
            : undefined
        }
      >
        <VirtualRows
          rows={shown}
          keyOf={keyOf}
          render={(job) => <JobLine job={job} withRun />}
          label={t('jobs')}
          rowHeight={ROW}
          height={`min(70vh, ${shown.length * ROW - 1}px)`}
          onOpen={(job) =>
            void navigate({ to: '/ui/runs/$id', params: { id: job.run_id }, search: { tab: 'learning' } as never })
          }
          onEndReached={list.more}
          loadingMore={list.loadingMore}
        />
      </Panel>
    </Page>
  );
}
