// How much a delta did, by kind of write.
import { Badge } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { OPS, type DeltaRow, type OpName } from './queries';
import classes from './Bank.module.css';

const COLOURS: Record<OpName, string> = {
  add: 'green',
  update: 'blue',
  archive: 'slate',
  restore: 'blue',
  remove: 'red',
};

export function DeltaCounts({ counts }: { counts: DeltaRow['counts'] }) {
  const { t } = useTranslation('bank');
  const done = OPS.filter((op) => counts[op] > 0);
  if (!done.length) return <span className={classes['muted']}>{t('counts.none')}</span>;
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
