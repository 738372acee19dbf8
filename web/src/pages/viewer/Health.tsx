// Whether work is done and how search finds: the worker, the vectors and who wrote last, each with the reason if less
// than everything works.
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { Fact, Facts } from '@/parts/Facts';
import { CommandLine } from '@/parts/CommandLine';
import { Panel, type QueryLike } from '@/parts/Panel';
import { StatusMark } from '@/parts/StatusMark';
import { timeAgo } from '@/parts/TimeText';
import { type System, WorkerFacts } from '@/parts/WorkerFacts';
import classes from './Health.module.css';

export function Health({ system }: { system: QueryLike<System> }) {
  const { t } = useTranslation('viewer');
  return (
    <Panel title={t('health.title')} state={system}>
      {(data: System) => (
        <Facts tiles>
          <WorkerFacts {...data} />
          <Model {...data} />
          <Search {...data} />
          <Agents {...data} />
        </Facts>
      )}
    </Panel>
  );
}

function Model({ model: { writer, failing } }: System) {
  const { t, i18n } = useTranslation('viewer');
  const where = { model: writer.model ?? '', host: writer.host ?? '' };
  const said =
    writer.provider === 'rules'
      ? t('health.rules')
      : t(
          writer.provider !== 'openai'
            ? writer.provider === 'sampling'
              ? 'health.sampling'
              : 'health.agent'
            : writer.leavesMachine
              ? 'health.modelAway'
              : 'health.modelHere',
          where,
        );
  const known = failing && i18n.exists(`viewer:failures.class.${failing.errorClass}`);
  return (
    <Fact name={t('health.writer')}>
      <StatusMark
        status={failing ? 'failed' : 'ok'}
        detail={failing ? t(writer.host ? 'health.modelFails' : 'health.agentFails', where) : said}
      />
      {failing && (
        <p className={classes['why']}>
          {known ? t(`failures.class.${failing.errorClass as 'timeout'}`) : failing.errorClass}: {failing.error}
        </p>
      )}
    </Fact>
  );
}

function Search({ index }: System) {
  const { t, i18n } = useTranslation('viewer');
  const count =
    (index.sqlite.embeddings ?? 0) + (index.sqlite.embeddings === null ? (index.chroma.embeddings ?? 0) : 0);
  const silent = index.chroma.configured && index.chroma.reachable === false;
  const why = !index.model
    ? t('health.noEmbedder')
    : silent
      ? t('health.outside', { reason: index.chroma.error ?? '' })
      : index.notes.length
        ? t('health.limited', { reason: index.notes.join('; ') })
        : null;
  return (
    <Fact name={t('health.search')}>
      <StatusMark status={why ? 'degraded' : 'ok'} detail={index.model ? t('health.hybrid') : t('health.lexical')} />
      {why && <p className={classes['why']}>{why}</p>}
      {!index.model && <CommandLine command="codexmem doctor" />}
      {index.model && (
        <p className="muted size12 flat">
          {index.waiting > 0
            ? t('health.indexing', { count: index.waiting })
            : t('health.complete', {
                count: count,
                replace: { count: count.toLocaleString(localeTag(i18n.language)) },
              })}
        </p>
      )}
    </Fact>
  );
}

function Agents({ agents, atEpoch }: System) {
  const { t, i18n } = useTranslation('viewer');
  const [newest] = agents;
  return (
    <Fact name={t('health.agents')}>
      <span className={`${classes['agent']} muted size12 flat`}>
        {newest
          ? t('health.lastWrote', {
              platform: newest.platform || t('health.unnamed'),
              ago: timeAgo(newest.lastWroteEpoch, atEpoch, i18n.language),
            })
          : t('health.noAgents')}
      </span>
    </Fact>
  );
}
