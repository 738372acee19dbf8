// What was learned from a run: its learnings, what they wrote, and the way back.
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { usePages } from '@/api/queries';
import { ListPanel } from '@/parts/ListPanel';
import { Panel } from '@/parts/Panel';
import { VirtualRows } from '@/parts/VirtualRows';
import { TextLink } from '@/parts/TextLink';
import { DeltaLine } from './DeltaLine';
import { JobLine } from './JobLine';
import { LearnAgain, useWhenLearned } from './LearningSteps';
import { active, deltaPage, feedbackQuery, jobsQuery } from './queries';
import classes from './Bank.module.css';

const ROW = 44;

export function LearningTab({ runId, dryRun }: { runId: string; dryRun: boolean }) {
  const { t } = useTranslation('bank');
  const navigate = useNavigate();
  const feedback = useQuery(feedbackQuery(runId));
  const jobs = useQuery(jobsQuery(runId));
  useWhenLearned(jobs.data);
  const wish = { run: runId, status: '' } as const;
  const deltas = usePages(['bank', 'deltas', wish], (cursor) => deltaPage(wish, cursor));
  const unsaid = feedback.data === null;
  return (
    <div style={{ display: 'flex', flexDirection: 'column', gap: 12 }}>
      {dryRun && (
        <div className={classes['notice']} role="status">
          <span className={classes['words']}>{t('feedback.learnDryRun')}</span>
        </div>
      )}
      {unsaid && !dryRun && (
        <div className={classes['notice']} role="status">
          <span className={classes['words']}>{t('learning.noFeedback')}</span>
          <TextLink to={`/ui/runs/${runId}?tab=feedback`}>{t('learning.toFeedback')}</TextLink>
        </div>
      )}
      <Panel
        title={t('learning.jobs')}
        flush
        state={jobs}
        isEmpty={(found) => !found.length}
        empty={{ title: t('learning.none'), why: t('learning.noneWhy') }}
        actions={
          feedback.data &&
          !dryRun && <LearnAgain runId={runId} busy={jobs.data?.some(active) ?? true} first={jobs.data?.length === 0} />
        }
      >
        {(found) => (
          <VirtualRows
            rows={found}
            keyOf={(job) => job.rb_job_id}
            render={(job) => <JobLine job={job} />}
            label={t('learning.jobs')}
            rowHeight={ROW}
            height={5 * ROW}
            keys={false}
          />
        )}
      </Panel>
      <ListPanel
        list={deltas}
        title={t('learning.deltas')}
        empty={{ title: t('learning.noDeltas'), why: t('learning.noDeltasWhy') }}
        keyOf={(delta) => delta.delta_id}
        render={(delta) => <DeltaLine delta={delta} />}
        label={t('learning.deltas')}
        rowHeight={ROW}
        height={8 * ROW}
        onOpen={(delta) => void navigate({ to: '/ui/rb/deltas/$id', params: { id: delta.delta_id } })}
      />
    </div>
  );
}
