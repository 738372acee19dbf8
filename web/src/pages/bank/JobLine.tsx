// One learning in a list: where it stands, how long it took, and what came of it.
import { useTranslation } from 'react-i18next';
import { Ref } from '@/parts/Ref';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import { Took } from '@/parts/Took';
import { type Job, shortId } from './queries';
import classes from './Bank.module.css';

export function JobLine({ job, withRun = false }: { job: Job; withRun?: boolean }) {
  const { t } = useTranslation('bank');
  return (
    <div className={`${classes['row']} row grow gap12`}>
      <span className={classes['status']}>
        <StatusMark status={job.status} />
      </span>
      <span className={classes['id']}>{job.rb_job_id}</span>
      <span className={classes['grow']}>
        {job.error ? (
          <span className="err" title={job.error}>
            {job.error}
          </span>
        ) : (
          job.delta_id && (
            <span onClick={(event) => event.stopPropagation()}>
              <Ref reference={job.delta_id} copy={false}>
                {shortId(job.delta_id)}
              </Ref>{' '}
              <span className="muted">
                {job.reason === 'dry_run' ? t('feedback.learnDryRun') : t('job.wrote', { count: job.n_ops ?? 0 })}
              </span>
            </span>
          )
        )}
      </span>
      {job.attempts > 1 && <span className="muted">{t('job.attempts', { n: job.attempts })}</span>}
      {withRun && (
        <span className={classes['wide']} onClick={(event) => event.stopPropagation()}>
          {t('from')}{' '}
          <Ref reference={job.run_id} copy={false}>
            {shortId(job.run_id)}
          </Ref>
        </span>
      )}
      <span className="muted">
        <Took of={job} />
      </span>
      <span className={classes['age']}>
        <TimeText at={job.created_at * 1_000} />
      </span>
    </div>
  );
}
