// One row of the audit: why it was decided so, by which rule, what came of it, and its place in the log.
import { Badge, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { CopyButton } from '@/parts/CopyButton';
import { JsonView } from '@/parts/JsonView';
import { Panel } from '@/parts/Panel';
import { StatusMark } from '@/parts/StatusMark';
import { TextBlock } from '@/parts/TextBlock';
import { TimeText } from '@/parts/TimeText';
import { AuditMark } from './AuditLine';
import classes from './Audit.module.css';
import { useOutcome, type AuditItem } from './queries';

const RISKS = { read: 'slate', write: 'yellow', network: 'blue', execute: 'red' } as const;

export function AuditDetail({ row }: { row: AuditItem }) {
  const { t } = useTranslation(['qa', 'common']);
  const asked = row.kind === 'request';
  return (
    <Panel
      title={t('row.title', { seq: row.seq })}
      actions={<CopyButton value={JSON.stringify(row, null, 2)} label={t('common:json')} />}
    >
      <Group gap="sm" mb="sm">
        <AuditMark row={row} />
        <strong className={classes['name']}>{row.tool}</strong>
        {row.risk && <Badge color={RISKS[row.risk]}>{t(`row.risks.${row.risk}`)}</Badge>}
        {row.from_text && (
          <Badge color="yellow" title={t('row.fromTextWhy')}>
            {t('row.fromText')}
          </Badge>
        )}
      </Group>
      {row.reason && (
        <Part name={t('row.reason')}>
          <TextBlock text={row.reason} />
        </Part>
      )}
      <dl className={classes['facts']}>
        {asked && <Fact name={t('row.rule')} value={row.rule} none={t('row.noRule')} mono />}
        <Fact name={t('row.by')} value={row.by} />
        <Fact name={t('row.cause')} value={row.cause} />
        <Fact name={t('row.agent')} value={row.agent} />
        <Fact name={t('row.project')} value={row.project_id} />
        <Fact name={t('row.server')} value={row.server} />
        <Fact name={t('row.run')} value={row.run_id} mono copy />
        <Fact name={t('row.call')} value={row.call_id} mono copy />
        {Boolean(row.at_ms) && (
          <Fact name={t('row.at')}>
            <TimeText at={row.at_ms} exact />
          </Fact>
        )}
        <Fact name={t('row.received')}>
          <TimeText at={row.received_at_ms} exact />
        </Fact>
        <Fact name={t('row.sender')} value={row.actor} />
        <Outcome row={row} />
      </dl>
      {row.problem && (
        <Part name={t('row.problem')}>
          <TextBlock text={row.problem} />
        </Part>
      )}
      {row.kind !== 'result' && (
        <Part name={t('row.arguments')}>
          {row.arguments && Object.keys(row.arguments).length ? (
            <JsonView value={row.arguments} />
          ) : (
            <span className={classes['muted']}>{t('row.noArguments')}</span>
          )}
        </Part>
      )}
      {row.torn && (
        <Part name={t('row.torn')}>
          <JsonView value={row.torn} />
        </Part>
      )}
      <Part name={t('chain.title')}>
        <p className={classes['chain']} data-chain={row.chain}>
          <strong>{t(`chain.${row.chain}`)}</strong> {t(`chain.why.${row.chain}`)}
        </p>
        <dl className={classes['facts']}>
          <Fact name={t('row.hash')} value={row.hash} mono copy />
          <Fact name={t('row.prev')} value={row.prev} mono copy />
          <Fact name={t('row.log')} value={row.log} mono copy />
        </dl>
      </Part>
    </Panel>
  );
}

/** How the call ended: told by this row itself, or by a later one of the same call. */
function Outcome({ row }: { row: AuditItem }) {
  const { t, i18n } = useTranslation('qa');
  const later = useOutcome(row);
  const told = row.result ? row : later.data;
  if (row.kind === 'recovered' || row.decision === 'deny') return null;
  const took = told?.duration_ms?.toLocaleString(localeTag(i18n.language));
  return (
    <Fact name={t('row.outcome')}>
      {told?.result ? (
        <StatusMark
          status={told.result === 'success' ? 'done' : 'failed'}
          {...(took === undefined ? {} : { detail: t('row.took', { ms: took }) })}
        />
      ) : (
        <span className={classes['muted']}>{t('row.noOutcome')}</span>
      )}
    </Fact>
  );
}

function Part({ name, children }: { name: string; children: ReactNode }) {
  return (
    <section className={classes['part']}>
      <h3>{name}</h3>
      {children}
    </section>
  );
}

type FactProps = {
  name: string;
  value?: string | null | undefined;
  /** What stands there without a value; without it the fact is left out. */
  none?: string;
  mono?: boolean;
  copy?: boolean;
  children?: ReactNode;
};

function Fact({ name, value, none, mono, copy, children }: FactProps) {
  if (!value && !none && !children) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {children ?? (value ? <span className={mono ? classes['mono'] : undefined}>{value}</span> : null)}
        {!value && !children && <span className={classes['muted']}>{none}</span>}
        {copy && value && <CopyButton value={value} label={name} />}
      </dd>
    </div>
  );
}
