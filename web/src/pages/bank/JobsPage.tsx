// Learnings over all runs: which wait, which are at work, and what became of the others.
import { Group } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { usePages } from '@/api/queries';
import { FilterSelect } from '@/parts/FilterSelect';
import { ListPanel } from '@/parts/ListPanel';
import { choice, useSearchState } from '@/app/searchState';
import { NewRows } from '@/parts/NewRows';
import { Page } from '@/parts/Page';
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
  const key = ['bank', 'jobs', { status }];
  const list = usePages(key, (cursor) => jobPage(status, cursor));
  const { shown, fresh } = useFresh(key, list.rows, keyOf, () => jobPage(status, null));
  return (
    <Page title={t('jobs')} description={t('jobsDescription')}>
      <BankNav />
      <Group gap="sm">
        <FilterSelect
          label={t('status')}
          bare
          unset={t('anyStatus')}
          words={JOB_STATUSES}
          nameOf={(word) => t(`common:status.${word}`)}
          value={status}
          onChange={(word) => set({ status: word })}
          w={160}
        />
        <NewRows count={fresh} onShow={() => void list.restart()} />
      </Group>
      <ListPanel
        list={list}
        empty={{ title: t('noJobs'), why: t('noJobsWhy'), command: 'codexmem rb learn RUN' }}
        filtered={
          status
            ? {
                text: t('noJobsFiltered', { status: t(`common:status.${status}`) }),
                onClear: () => set({ status: '' }),
              }
            : undefined
        }
        rows={shown}
        keyOf={keyOf}
        render={(job) => <JobLine job={job} withRun />}
        label={t('jobs')}
        rowHeight={ROW}
        onOpen={(job) =>
          void navigate({ to: '/ui/runs/$id', params: { id: job.run_id }, search: { tab: 'learning' } as never })
        }
      />
    </Page>
  );
}
