// One row of the audit: why it was decided so, by which rule, what came of it, and its place in the log.
import { Badge, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { IconLinkOff } from '@tabler/icons-react';
import { useActorName } from '@/parts/acts/LifeMarks';
import { durationText } from '@/parts/amounts';
import { Facts } from '@/parts/Facts';
import { Copied, CopyButton } from '@/parts/CopyButton';
import { JsonView } from '@/parts/JsonView';
import { Panel } from '@/parts/Panel';
import { Part } from '@/parts/Part';
import { StatusMark } from '@/parts/StatusMark';
import { TextBlock } from '@/parts/TextBlock';
import { TimeText } from '@/parts/TimeText';
import classes from './Audit.module.css';
import type { AuditItem } from './queries';

const RISKS = { read: 'slate', write: 'yellow', network: 'blue', execute: 'red' } as const;

export function AuditDetail({ row }: { row: AuditItem }) {
  const actorName = useActorName();
  const { t } = useTranslation(['qa', 'common']);
  const asked = row.kind === 'request';
  const ends = row.kind !== 'recovered' && row.decision !== 'deny';
  return (
    <Panel
      title={t('row.title', { seq: row.seq })}
      actions={<CopyButton value={JSON.stringify(row, null, 2)} label={t('common:json')} />}
    >
      <Group gap="sm" mb="sm">
        <AuditMark row={row} />
        <strong className="anywhere">{row.tool}</strong>
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
      <Facts
        tiles
        facts={[
          [t('row.rule'), asked && (row.rule ? <code>{row.rule}</code> : <Muted>{t('row.noRule')}</Muted>)],
          [t('row.by'), row.by && actorName(row.by)],
          [t('row.cause'), row.cause],
          [t('row.agent'), row.agent],
          [t('row.project'), row.project_id],
          [t('row.server'), row.server],
          [t('row.run'), row.run_id && <Copied value={row.run_id} label={t('row.run')} />],
          [t('row.call'), row.call_id && <Copied value={row.call_id} label={t('row.call')} />],
          [t('row.at'), Boolean(row.at_ms) && <TimeText at={row.at_ms} exact />],
          [t('row.received'), <TimeText key="received" at={row.received_at_ms} exact />],
          [t('row.sender'), actorName(row.actor)],
          [t('row.outcome'), ends && <Outcome row={row} />],
        ]}
      />
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
            <Muted>{t('row.noArguments')}</Muted>
          )}
        </Part>
      )}
      {row.torn && (
        <Part name={t('row.torn')}>
          <JsonView value={row.torn} />
        </Part>
      )}
      <Part name={t('chain.title')}>
        <p className={`${classes['chain']} flat`} data-chain={row.chain}>
          <strong>{t(`chain.${row.chain}`)}</strong> {t(`chain.why.${row.chain}`)}
        </p>
        <Facts
          tiles
          facts={(['hash', 'prev', 'log'] as const).map((name) => [
            t(`row.${name}`),
            row[name] && <Copied value={row[name]} label={t(`row.${name}`)} />,
          ])}
        />
      </Part>
    </Panel>
  );
}

/** How the call ended: told by this row itself, or by a later one of the same call. */
function Outcome({ row }: { row: AuditItem }) {
  const { t, i18n } = useTranslation('qa');
  const told = row.result ? row : row.outcome;
  if (!told?.result) return <Muted>{t('row.noOutcome')}</Muted>;
  return (
    <StatusMark
      status={told.result === 'success' ? 'done' : 'failed'}
      {...(told.duration_ms == null ? {} : { detail: durationText(told.duration_ms, i18n.language) })}
    />
  );
}

function Muted({ children }: { children: ReactNode }) {
  return <span className="muted">{children}</span>;
}

/** One row of the audit in the list: what was decided, about what, and whether its place in the log is right. */
export function AuditLine({ row }: { row: AuditItem }) {
  const { t, i18n } = useTranslation('qa');
  const { outcome } = row;
  const told = row.result ? row : outcome;
  const ms = told?.duration_ms ?? null;
  const chain = [row.chain, outcome?.chain].find((each) => each === 'broken' || each === 'forked');
  return (
    <div className="column grow gap2">
      <div className={classes['top']}>
        <AuditMark row={row} />
        <strong className={classes['tool']}>{row.tool || row.call_id}</strong>
        <span className={classes['what']} dir="auto">
          {whatOf(row)}
        </span>
        <TimeText at={row.at_ms || row.received_at_ms} />
      </div>
      <div className={`${classes['below']} muted size12`}>
        <span className={classes['what']} dir="auto">
          {row.result ? t('kind.result') : row.reason}
        </span>
        {told?.result && (
          <span className={classes['ended']} data-failed={told.result === 'failure' || undefined}>
            {ms === null
              ? t(`ended.${told.result}`)
              : t(`ended.${told.result}After`, { time: durationText(ms, i18n.language) })}
          </span>
        )}
        {chain && (
          <span className={classes['damage']}>
            <IconLinkOff size={13} aria-hidden />
            {t(`chain.${chain}`)}
          </span>
        )}
        <span className={classes['project']}>{row.project_id}</span>
      </div>
    </div>
  );
}

/** What the row says: a decision, an outcome, or what else was recorded. */
function AuditMark({ row }: { row: AuditItem }) {
  const { t } = useTranslation('qa');
  if (row.decision) return <StatusMark status={row.decision} />;
  if (row.result) return <StatusMark status={row.result === 'success' ? 'done' : 'failed'} />;
  return <StatusMark status={t(`kind.${row.kind}`)} />;
}

/** The command, path or address that was asked for, in one line. */
function whatOf({ arguments: given }: AuditItem): string {
  if (!given) return '';
  for (const name of ['command', 'paths', 'urls']) {
    const said = given[name];
    if (typeof said === 'string' && said) return said;
    if (Array.isArray(said) && said.length) return said.map(String).join(' ');
  }
  return Object.keys(given).length ? JSON.stringify(given['arguments'] ?? given) : '';
}
