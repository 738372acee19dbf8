// One run in its batch: number, status, time, why it failed, score.
import { Badge } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { StatusMark } from '@/parts/StatusMark';
import { shownStatus, type Run } from '@/api/lab';
import { Took } from '@/parts/Took';
import classes from './Lab.module.css';

export function RunRow({ run }: { run: Run }) {
  const { t, i18n } = useTranslation('lab');
  const score = run.feedback?.score;
  return (
    <div className={classes['run']}>
      <span className={classes['index']} title={run.run_id}>
        {t('runNumber', { n: run.run_index })}
      </span>
      <span className={classes['status']}>
        <StatusMark status={shownStatus(run)} />
        {run.library_empty && <Badge color="orange">{t('libraryEmpty')}</Badge>}
      </span>
      <span className={classes['why']} data-quiet={run.error === null || undefined}>
        {run.error ?? (run.status === 'queued' ? t('waits') : '')}
      </span>
      <span className={classes['score']}>
        {typeof score === 'number'
          ? t('score', { score: score.toLocaleString(localeTag(i18n.language)) })
          : run.feedback && t('scored')}
      </span>
      <span className={classes['took']}>
        <Took of={run} />
      </span>
    </div>
  );
}
