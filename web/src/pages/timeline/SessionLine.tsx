// One session of the list: what was asked first, by whom and where, and what came of it.
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import type { Session } from './queries';
import classes from './Session.module.css';

export function SessionLine({ session }: { session: Session }) {
  const { t, i18n } = useTranslation('timeline');
  const made = session.observations + session.summaries;
  const number = made.toLocaleString(localeTag(i18n.language));
  return (
    <div className={classes['line']}>
      <span className={classes['number']}>{session.number}</span>
      <span className={classes['words']}>
        <span className={classes['title']} dir="auto" data-none={!session.title || undefined}>
          {session.title || t(session.hidden ? 'sessionList.hidden' : 'sessionList.untitled')}
        </span>
        <span className={classes['under']}>
          <span>{session.agent}</span>
          <span>{session.project}</span>
          <span className={classes['folder']}>{session.cwd}</span>
        </span>
      </span>
      <span className={classes['counts']}>
        <span>{t('sessionList.turns', { count: session.turns })}</span>
        <span>{session.counted ? t('sessionList.made', { count: made }) : t('sessionList.madeMore', { number })}</span>
      </span>
      <span className={classes['state']}>
        <StatusMark status={session.status} />
        <TimeText at={session.last_ms} />
      </span>
    </div>
  );
}
