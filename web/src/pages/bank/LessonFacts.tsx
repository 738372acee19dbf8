// What is known about a lesson: whence, by whom, since when.
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Ref } from '@/parts/Ref';
import { TimeText } from '@/parts/TimeText';
import { versionPage, type Lesson } from './queries';
import { shortId } from './shortId';
import classes from './Bank.module.css';

export function LessonFacts({ lesson }: { lesson: Lesson }) {
  const { t } = useTranslation('bank');
  const newest = useQuery({
    queryKey: ['bank', 'newest-version', lesson.mem_id, lesson.version],
    queryFn: () => versionPage(lesson.mem_id, null),
    staleTime: Infinity,
  });
  const now = newest.data?.rows[0];
  return (
    <dl className={classes['facts']}>
      <dt>{t('page.version')}</dt>
      <dd>{lesson.version}</dd>
      {now && (
        <>
          <dt>{t('page.delta')}</dt>
          <dd>{now.delta_id ? <Ref reference={now.delta_id}>{shortId(now.delta_id)}</Ref> : t('page.byHandOnly')}</dd>
        </>
      )}
      <dt>{t('page.runs')}</dt>
      <dd>
        {lesson.run_ids.length
          ? lesson.run_ids.map((run) => (
              <div key={run}>
                <Ref reference={run}>{shortId(run)}</Ref>
              </div>
            ))
          : t('page.noRuns')}
      </dd>
      <dt>{t('page.confidence')}</dt>
      <dd>{lesson.confidence.toFixed(2)}</dd>
      <dt>{t('page.updated')}</dt>
      <dd>
        <TimeText at={lesson.updated_at * 1_000} />
      </dd>
      <dt>{t('page.created')}</dt>
      <dd>
        <TimeText at={lesson.created_at * 1_000} />
      </dd>
    </dl>
  );
}
