// Who writes here, and when each last did; nobody yet: how an agent is connected.
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { Panel, type QueryLike } from '@/parts/Panel';
import { PageLink } from '@/parts/Ref';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import { INSTALL } from '@/parts/commands';
import type { Agent, System } from './queries';
import classes from './System.module.css';

const RECENT_MS = 10 * 60_000; // who wrote since then is at work

export function AgentsPanel({ system }: { system: QueryLike<System> }) {
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
        <div className={classes['scroll']} tabIndex={0} role="group" aria-label={t('agents.title')}>
          <table className={classes['table']}>
            <thead>
              <tr>
                <th scope="col">{t('agents.agent')}</th>
                <th scope="col">{t('agents.lastWrote')}</th>
                <th scope="col">{t('agents.project')}</th>
                <th scope="col">{t('agents.session')}</th>
                <th scope="col" className={classes['number']}>
                  {t('agents.sessionsToday')}
                </th>
                <th scope="col" className={classes['number']}>
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
        <PageLink to={`/ui/timeline?project=${encodeURIComponent(agent.project)}`}>{agent.project}</PageLink>
      </td>
      <td>
        <span className={classes['session']}>
          <PageLink to={`/ui/sessions/${agent.sessionDbId}`}>
            {t('agents.sessionNumber', { number: agent.sessionDbId })}
          </PageLink>
          {agent.sessionStatus === 'completed' ? (
            <StatusMark status="completed" />
          ) : recent ? (
            <StatusMark status="active" />
          ) : (
            <StatusMark status="off" detail={t('agents.quiet')} />
          )}
        </span>
      </td>
      <td className={classes['number']}>{write(agent.sessionsToday)}</td>
      <td className={classes['number']}>
        {atLeast ? t('work.atLeast', { count: write(agent.eventsToday) }) : write(agent.eventsToday)}
      </td>
    </tr>
  );
}
