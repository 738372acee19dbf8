// One batch in the list: status, request, progress, age, and the way to stop it.
import { Badge } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import { CancelButton } from './CancelButton';
import { shownStatus, type Batch } from '@/api/lab';
import { RunsProgress } from './RunsProgress';
import classes from './Lab.module.css';

const SHOWN = 300; // characters of a request that a row can hold at most

export function BatchRow({ batch }: { batch: Batch }) {
  const { t } = useTranslation('lab');
  return (
    <div className={classes['batch']}>
      <span className={classes['status']}>
        <StatusMark status={shownStatus(batch)} />
      </span>
      <span className={classes['request']} title={batch.batch_id}>
        {batch.user_request.slice(0, SHOWN)}
      </span>
      {batch.dry_run && <Badge color="slate">{t('dryRun')}</Badge>}
      <RunsProgress batch={batch} />
      <span className={classes['age']}>
        <TimeText at={batch.created_at * 1_000} />
      </span>
      <span className={classes['act']}>
        <CancelButton batch={batch} small />
      </span>
    </div>
  );
}
