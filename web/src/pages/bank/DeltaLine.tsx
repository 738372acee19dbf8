// One delta in a list: what made it, how much it did, whether it stands, and the way to take it back.
import { useTranslation } from 'react-i18next';
import { Ref } from '@/parts/Ref';
import { TimeText } from '@/parts/TimeText';
import { DeltaCounts } from './DeltaCounts';
import { DeltaStanding, useCause } from './DeltaStanding';
import { RollbackButton } from './RollbackButton';
import type { DeltaRow } from './queries';
import { shortId } from './shortId';
import classes from './Bank.module.css';

export function DeltaLine({ delta, withRun = false }: { delta: DeltaRow; withRun?: boolean }) {
  const { t } = useTranslation('bank');
  const causeName = useCause();
  return (
    <div className={classes['row']}>
      <span style={{ width: 72 }}>{causeName(delta.cause)}</span>
      <span className={classes['id']} title={delta.delta_id}>
        {shortId(delta.delta_id)}
      </span>
      <DeltaStanding status={delta.status} />
      <span className={classes['grow']}>
        <DeltaCounts counts={delta.counts} />
      </span>
      {withRun && (
        <span className={classes['wide']} onClick={(event) => event.stopPropagation()}>
          {t('from')}{' '}
          <Ref reference={delta.run_id} copy={false}>
            {shortId(delta.run_id)}
          </Ref>
        </span>
      )}
      <span className={classes['age']}>
        <TimeText at={delta.created_at * 1_000} />
      </span>
      <RollbackButton delta={delta} small />
    </div>
  );
}
