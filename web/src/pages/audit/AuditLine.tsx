// One row of the audit in the list: what was decided, about what, and whether its place in the log is right.
import { IconLinkOff } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import classes from './Audit.module.css';
import type { AuditItem } from './queries';

export function AuditLine({ row }: { row: AuditItem }) {
  const { t, i18n } = useTranslation('qa');
  const ms = row.duration_ms?.toLocaleString(localeTag(i18n.language));
  const took = ms === undefined ? '' : ` · ${t('row.took', { ms })}`;
  const damaged = row.chain === 'broken' || row.chain === 'forked';
  return (
    <div className={classes['line']}>
      <div className={classes['top']}>
        <AuditMark row={row} />
        <strong className={classes['tool']}>{row.tool || row.call_id}</strong>
        <span className={classes['what']} dir="auto">
          {whatOf(row)}
        </span>
        <TimeText at={row.at_ms || row.received_at_ms} />
      </div>
      <div className={classes['below']}>
        <span className={classes['what']} dir="auto">
          {row.result ? t('kind.result') : row.reason}
          {took}
        </span>
        {damaged && (
          <span className={classes['damage']}>
            <IconLinkOff size={13} aria-hidden />
            {t(`chain.${row.chain}`)}
          </span>
        )}
        <span className={classes['project']}>{row.project_id}</span>
      </div>
    </div>
  );
}

/** What the row says: a decision, an outcome, or what else was recorded. */
export function AuditMark({ row }: { row: AuditItem }) {
  const { t } = useTranslation('qa');
  if (row.decision) return <StatusMark status={row.decision} />;
  if (row.result) return <StatusMark status={row.result === 'success' ? 'done' : 'failed'} />;
  return <StatusMark status={t(`kind.${row.kind}`)} />;
}

/** The command, path or address that was asked for, in one line. */
export function whatOf({ arguments: given }: AuditItem): string {
  if (!given) return '';
  for (const name of ['command', 'paths', 'urls']) {
    const said = given[name];
    if (typeof said === 'string' && said) return said;
    if (Array.isArray(said) && said.length) return said.map(String).join(' ');
  }
  return Object.keys(given).length ? JSON.stringify(given['arguments'] ?? given) : '';
}
