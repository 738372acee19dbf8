// One delta in a list: what made it, how much it did, whether it stands, and the way to take it back.
import { useTranslation } from 'react-i18next';
import { Badge } from '@mantine/core';
import { IconArrowBackUp, IconCheck } from '@tabler/icons-react';
import { Ref } from '@/parts/Ref';
import { TimeText } from '@/parts/TimeText';
import { RollbackButton } from './RollbackButton';
import { type DeltaRow, type OpName, OPS, shortId } from './queries';
import classes from './Bank.module.css';

export function DeltaLine({ delta, withRun = false }: { delta: DeltaRow; withRun?: boolean }) {
  const { t } = useTranslation('bank');
  const causeName = useCause();
  return (
    <div className={`${classes['row']} row grow gap12`}>
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

const COLOURS: Record<OpName, string> = {
  add: 'green',
  update: 'blue',
  archive: 'slate',
  restore: 'blue',
  remove: 'red',
};

/** How much a delta did, by kind of write. */
export function DeltaCounts({ counts }: { counts: DeltaRow['counts'] }) {
  const { t } = useTranslation('bank');
  const done = OPS.filter((op) => counts[op] > 0);
  if (!done.length) return <span className="muted">{t('counts.none')}</span>;
  return (
    <span className={classes['counts']}>
      {done.map((op) => (
        <Badge key={op} color={COLOURS[op]}>
          {t(`counts.${op}`, { count: counts[op] })}
        </Badge>
      ))}
    </span>
  );
}

/** Whether a delta stands or was taken back, by icon, word and colour. */
export function DeltaStanding({ status }: { status: DeltaRow['status'] }) {
  const { t } = useTranslation('bank');
  const stands = status === 'applied';
  const Icon = stands ? IconCheck : IconArrowBackUp;
  return (
    <Badge color={stands ? 'green' : 'slate'} leftSection={<Icon size={12} aria-hidden />}>
      {t(`deltaStatus.${status}`)}
    </Badge>
  );
}

/** What made it: a learning or a rollback. */
export function useCause(): (cause: string) => string {
  const { t } = useTranslation('bank');
  return (cause) => (cause === 'learn' || cause === 'rollback' ? t(`causes.${cause}`) : cause);
}
