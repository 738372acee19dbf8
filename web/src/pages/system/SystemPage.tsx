// The state of the server: what works, who writes, what it costs, and how all of it is kept safe.
import { useTranslation } from 'react-i18next';
import { Fact, Facts } from '@/parts/Facts';
import { Page } from '@/parts/Page';
import { Copied, CopyButton } from '@/parts/CopyButton';
import { Panel, type QueryLike } from '@/parts/Panel';
import { StatusMark } from '@/parts/StatusMark';
import { localeTag } from '@/i18n';
import { PageLink } from '@/parts/Ref';
import { TimeText } from '@/parts/TimeText';
import { INSTALL } from '@/parts/commands';
import { BackupsPanel } from './BackupsPanel';
import { IndexPanel } from './IndexPanel';
import { ModelPanel } from './ModelPanel';
import { type System, useSystem, WorkerFacts } from '@/parts/WorkerFacts';
import { type Agent, useBackups } from './queries';
import { bytesText, durationText } from '@/parts/amounts';
import classes from './System.module.css';

export function SystemPage() {
  const { t } = useTranslation('system');
  const system = useSystem(5_000);
  const backups = useBackups();
  return (
    <Page title={t('title')} description={t('description')} pending={system.isPending || backups.isPending}>
      <div className={classes['columns']}>
        <div className="column gap12">
          <AgentsPanel system={system} />
          <BackupsPanel />
        </div>
        <div className="column gap12">
          <WorkPanel system={system} />
          <ModelPanel system={system} />
          <IndexPanel system={system} />
          <AboutPanel system={system} />
        </div>
      </div>
    </Page>
  );
}

const ENGINES = { sqlite: 'SQLite', postgresql: 'PostgreSQL' } as const;

/** What runs here and where it keeps its things. */
function AboutPanel({ system }: { system: QueryLike<System> }) {
  const { t } = useTranslation('system');
  return (
    <Panel title={t('about.title')} state={system}>
      {(data: System) => (
        <Facts>
          <Running {...data} />
          <Place data={data.data} />
        </Facts>
      )}
    </Panel>
  );
}

function Running({ phase, uptimeSec, pid, version, python, engine, live }: System) {
  const { t, i18n } = useTranslation('system');
  const span = durationText(uptimeSec * 1_000, i18n.language);
  return (
    <>
      <Fact name={t('about.server')}>
        <StatusMark status={phase === 'ready' ? 'ok' : phase} detail={t('about.uptime', { span, pid })} />
      </Fact>
      <Fact name={t('about.version')}>
        <span className={classes['copied']}>
          {t('about.versions', { version, python })}
          <CopyButton
            value={`codexmem ${version}, Python ${python}, ${engine.name} ${engine.version}, schema ${engine.schema}`}
            label={t('about.versionsToCopy')}
          />
        </span>
      </Fact>
      <Fact name={t('about.engine')}>
        {t('about.engineIs', { name: ENGINES[engine.name], version: engine.version, schema: engine.schema })}
      </Fact>
      <Fact name={t('about.live')}>
        <span title={t('about.liveHint')}>{t('about.liveIs', { count: live.clients })}</span>
      </Fact>
    </>
  );
}

function Place({ data }: { data: System['data'] }) {
  const { t, i18n } = useTranslation('system');
  if (!data) return <Fact name={t('about.data')}>{t('about.shared')}</Fact>;
  const total = bytesText(data.totalBytes, i18n.language);
  return (
    <>
      <Fact name={t('about.data')}>
        {data.directory ? <Copied value={data.directory} label={t('about.path')} /> : t('about.hidden')}
      </Fact>
      <Fact name={t('about.size')}>
        {data.truncated ? t('work.atLeast', { count: total }) : total}
        <p className={classes['why']}>
          {t('about.parts', {
            database: bytesText(data.databaseBytes ?? 0, i18n.language),
            backups: bytesText(data.backupsBytes, i18n.language),
          })}
        </p>
      </Fact>
    </>
  );
}

const COUNTS = ['queued', 'running', 'failed', 'completed', 'canceled'] as const;

/** The worker and its queue: whether jobs run, how many wait, and since when. */
function WorkPanel({ system }: { system: QueryLike<System> }) {
  const { t } = useTranslation('system');
  return (
    <Panel title={t('work.title')} state={system}>
      {(data: System) => (
        <>
          <Queue {...data} />
          <Facts>
            <WorkerFacts {...data} />
            <Oldest {...data} />
          </Facts>
        </>
      )}
    </Panel>
  );
}

function Queue({ queue }: System) {
  const { t, i18n } = useTranslation('system');
  const write = (count: number) => {
    const written = count.toLocaleString(localeTag(i18n.language));
    return count >= queue.countedUpTo ? t('work.atLeast', { count: written }) : written;
  };
  return (
    <dl className={classes['tiles']}>
      {COUNTS.map((name) => (
        <div key={name} data-alarm={(name === 'failed' && queue.failed > 0) || undefined}>
          <dt>
            {name === 'failed' && queue.failed > 0 ? (
              <PageLink to="/viewer?tab=failures">{t('work.failed')}</PageLink>
            ) : (
              t(`work.${name}`)
            )}
          </dt>
          <dd>{write(queue[name])}</dd>
        </div>
      ))}
    </dl>
  );
}

function Oldest({ queue: { oldestWaiting: oldest } }: System) {
  const { t, i18n } = useTranslation('system');
  if (!oldest) return null;
  const span = durationText(oldest.waitingMs, i18n.language);
  return <Fact name={t('work.oldest')}>{t('work.oldestIs', { kind: oldest.kind, span })}</Fact>;
}

const RECENT_MS = 10 * 60_000; // who wrote since then is at work

/** Who writes here, and when each last did; nobody yet: how an agent is connected. */
function AgentsPanel({ system }: { system: QueryLike<System> }) {
  const { t } = useTranslation('system');
  const truncated = system.data?.agentsTruncated;
  return (
    <Panel
      title={t('agents.title')}
      state={system}
      isEmpty={({ agents }: System) => !agents.length}
      empty={{ title: t('agents.none'), why: t('agents.noneWhy'), command: INSTALL }}
      degraded={truncated ? t('agents.truncated') : null}
      flush
    >
      {(data: System) => (
        <div className="scrollsX" tabIndex={0} role="group" aria-label={t('agents.title')}>
          <table className={classes['table']}>
            <thead>
              <tr>
                <th scope="col">{t('agents.agent')}</th>
                <th scope="col">{t('agents.lastWrote')}</th>
                <th scope="col">{t('agents.project')}</th>
                <th scope="col">{t('agents.session')}</th>
                <th scope="col" className={`${classes['number']} ${classes['few']}`}>
                  {t('agents.sessionsToday')}
                </th>
                <th scope="col" className={`${classes['number']} ${classes['few']}`}>
                  {t('agents.eventsToday')}
                </th>
              </tr>
            </thead>
            <tbody>
              {data.agents.map((agent) => (
                <Row key={agent.platform} agent={agent} now={data.atEpoch} atLeast={data.eventsTodayTruncated} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}

function Row({ agent, now, atLeast }: { agent: Agent; now: number; atLeast: boolean }) {
  const { t, i18n } = useTranslation('system');
  const write = (count: number) => count.toLocaleString(localeTag(i18n.language));
  const recent = now - agent.lastWroteEpoch < RECENT_MS;
  return (
    <tr>
      <th scope="row">{agent.platform || t('agents.unnamed')}</th>
      <td>
        <TimeText at={agent.lastWroteEpoch} />
      </td>
      <td className={classes['text']}>
        <PageLink to={`/ui/memories?project=${encodeURIComponent(agent.project)}`}>{agent.project}</PageLink>
      </td>
      <td>
        <span className={classes['session']}>
          <PageLink to={`/ui/sessions/${agent.sessionDbId}`}>
            {t('agents.sessionNumber', { number: agent.sessionDbId })}
          </PageLink>
          {agent.sessionStatus === 'completed' ? (
            <StatusMark status="completed" />
          ) : recent ? (
            <StatusMark status="open" />
          ) : (
            <span className="muted">{t('agents.quiet')}</span>
          )}
        </span>
      </td>
      <td className={`${classes['number']} ${classes['few']}`}>{write(agent.sessionsToday)}</td>
      <td className={`${classes['number']} ${classes['few']}`}>
        {atLeast ? t('work.atLeast', { count: write(agent.eventsToday) }) : write(agent.eventsToday)}
      </td>
    </tr>
  );
}
