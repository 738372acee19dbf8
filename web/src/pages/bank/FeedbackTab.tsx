// What a person says about a run, and the learning that follows.
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Empty, Panel } from '@/parts/Panel';
import { ended, useRun } from '@/api/lab';
import { FeedbackForm } from './FeedbackForm';
import { LearningSteps } from './LearningSteps';
import { feedbackQuery } from './queries';

export function FeedbackTab({ runId, dryRun }: { runId: string; dryRun: boolean }) {
  const { t } = useTranslation('bank');
  const run = useRun(runId);
  const feedback = useQuery(feedbackQuery(runId));
  const early = run.data !== undefined && !ended(run.data);
  return (
    <Panel title={t('feedback.title')} state={feedback}>
      {(said) =>
        early ? (
          <Empty title={t('feedback.notEnded')} why={t('feedback.notEndedWhy')} />
        ) : (
          <>
            <FeedbackForm key={runId} runId={runId} dryRun={dryRun} saved={said} />
            {!dryRun && <LearningSteps runId={runId} />}
          </>
        )
      }
    </Panel>
  );
}
