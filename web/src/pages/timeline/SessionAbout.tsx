// Who worked in a session, where, how long, and what was made of it.
import { useTranslation } from 'react-i18next';
import { Facts } from '@/parts/Facts';
import { Copied } from '@/parts/CopyButton';
import { Panel } from '@/parts/Panel';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import { durationText } from '@/parts/amounts';
import type { Session } from './queries';
import { stateOf } from './sessionItems';

export function SessionAbout({ session }: { session: Session }) {
  const { t, i18n } = useTranslation(['timeline', 'memory', 'common']);
  const facts = [
    [t('sessionPage.status'), <StatusMark key="status" status={stateOf(session)} />],
    [t('sessionPage.agent'), session.agent],
    [t('memory:fact.project'), session.project],
    [t('sessionPage.started'), <TimeText key="started" at={session.started_ms} />],
    [t('sessionPage.last'), <TimeText key="last" at={session.last_ms} />],
    [t('sessionPage.ended'), session.ended_ms === null ? t('sessionPage.running') : <TimeText at={session.ended_ms} />],
    [t('sessionPage.lasted'), durationText((session.ended_ms ?? session.last_ms) - session.started_ms, i18n.language)],
    [
      t('sessionPage.made'),
      <span key="made" title={session.counted ? undefined : t('sessionPage.andMore')}>
        {t('sessionPage.observations', { count: session.observations })}
        {' · '}
        {t('sessionPage.summaries', { count: session.summaries })}
        {session.hidden > 0 && ` · ${t('sessionPage.hidden', { count: session.hidden })}`}
        {!session.counted && '+'}
      </span>,
    ],
    [t('sessionPage.folder'), session.cwd],
    [t('sessionPage.key'), <Copied key="key" value={session.key} label={t('common:id')} />],
  ] as const;
  return (
    <Panel label={t('sessionPage.about')}>
      <Facts facts={facts} tiles />
    </Panel>
  );
}
