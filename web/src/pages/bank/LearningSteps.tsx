// Where the newest learning of a run stands: queued, running, and the delta that it wrote.
import { Button } from '@mantine/core';
import { IconCircle, IconCircleCheck, IconCircleX, IconLoader } from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorCard } from '@/parts/ErrorCard';
import { Ref } from '@/parts/Ref';
import { TimeText } from '@/parts/TimeText';
import { notify } from '@/parts/undoable';
import { active, deltaPage, type Job, jobsQuery, learn, shortId, useBankChanged } from './queries';
import { RollbackButton } from './RollbackButton';
import classes from './Bank.module.css';

export function LearningSteps({ runId }: { runId: string }) {
  const { t } = useTranslation('bank');
  const jobs = useQuery(jobsQuery(runId));
  const newest = jobs.data?.[0];
  useWhenLearned(jobs.data);
  if (!newest) return null;
  return (
    <section aria-label={t('learning.label')} className={classes['notice']} style={{ marginTop: 16 }}>
      <div className={classes['words']}>
        <Steps job={newest} />
        {newest.status === 'failed' && (
          <div role="alert">
            {t('learning.failed')}: {newest.error} {t('learning.failedNext')}
          </div>
        )}
      </div>
      <TimeText at={(newest.ended_at ?? newest.started_at ?? newest.created_at) * 1_000} />
      {newest.delta_id && <TakeBack runId={runId} deltaId={newest.delta_id} />}
      <LearnAgain runId={runId} busy={active(newest)} />
    </section>
  );
}

/** The way back from what was just learned. */
function TakeBack({ runId, deltaId }: { runId: string; deltaId: string }) {
  const delta = useQuery({
    queryKey: ['bank', 'deltas', { run: runId, of: deltaId }],
    queryFn: async () => {
      const { rows } = await deltaPage({ run: runId, status: '' }, null);
      return rows.find((each) => each.delta_id === deltaId) ?? null;
    },
  }).data;
  return delta ? <RollbackButton delta={delta} /> : null;
}

type State = 'done' | 'now' | 'failed' | 'later';

function Steps({ job }: { job: Job }) {
  const { t } = useTranslation('bank');
  const queued: State = job.status === 'queued' ? 'now' : 'done';
  const failed = job.status === 'failed' || job.status === 'canceled';
  const begun: State = job.status === 'running' ? 'now' : job.status === 'queued' ? 'later' : 'done';
  const running = failed ? 'failed' : begun;
  const wrote: State = job.status === 'completed' ? 'done' : 'later';
  return (
    <ol className={`${classes['steps']} plain`} aria-live="polite">
      <li data-state={queued}>
        <Mark state={queued} />
        {t('learning.queued')}
      </li>
      <li data-state={running}>
        <Mark state={running} />
        {failed ? t(job.status === 'canceled' ? 'learning.canceled' : 'learning.failed') : t('learning.running')}
      </li>
      <li data-state={wrote}>
        <Mark state={wrote} />
        {t('learning.wrote')}
        {job.delta_id && <Ref reference={job.delta_id}>{shortId(job.delta_id)}</Ref>}
        {job.n_ops !== null && <span>{t('job.wrote', { count: job.n_ops })}</span>}
      </li>
    </ol>
  );
}

const MARKS = { done: IconCircleCheck, now: IconLoader, failed: IconCircleX, later: IconCircle };

function Mark({ state }: { state: State }) {
  const Icon = MARKS[state];
  return <Icon size={14} aria-hidden />;
}

/** Ask for a learning by hand. */
export function LearnAgain({ runId, busy, first = false }: { runId: string; busy: boolean; first?: boolean }) {
  const { t } = useTranslation('bank');
  const changed = useBankChanged();
  const asking = useMutation({
    mutationFn: () => learn(runId),
    onSuccess: async () => {
      notify(t('learning.asked'));
      await changed();
    },
  });
  return (
    <>
      <Button variant="default" loading={asking.isPending} disabled={busy} onClick={() => asking.mutate()}>
        {t(first ? 'learning.now' : 'learning.again')}
      </Button>
      {asking.isError && <ErrorCard error={asking.error} compact />}
    </>
  );
}

/** A learning that ends has changed the bank: whatever shows it is asked for anew. */
export function useWhenLearned(jobs: readonly Job[] | undefined) {
  const changed = useBankChanged();
  const busy = jobs?.some(active) ?? false;
  const before = useRef(false);
  useEffect(() => {
    if (before.current && !busy) void changed();
    before.current = busy;
  }, [busy, changed]);
}
