// What is known about a note beside what it says.
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { Panel } from '@/parts/Panel';
import { PageLink } from '@/parts/Ref';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import { isCore } from './PriorityBadge';
import type { Note } from './queries';
import classes from './Note.module.css';

export function NoteMeta({ note }: { note: Note }) {
  const { t, i18n } = useTranslation('notes');
  const number = (value: number) => value.toLocaleString(localeTag(i18n.language));
  const session = /^session:(\d+)$/.exec(note.source ?? '')?.[1];
  return (
    <Panel title={t('meta.title')}>
      <dl className={classes['meta']}>
        <dt>{t('priority.label')}</dt>
        <dd>{t(isCore(note.priority) ? 'meta.core' : 'meta.usual', { priority: note.priority })}</dd>
        <dt>{t('meta.status')}</dt>
        <dd>
          <StatusMark status={note.status} />
        </dd>
        <dt className={classes['wide']}>{t('disclosure.label')}</dt>
        <dd className={classes['wide']}>
          {note.disclosure || <span className={classes['muted']}>{t('disclosure.none')}</span>}
        </dd>
        <dt>{t('meta.project')}</dt>
        <dd>{note.project || t('meta.everywhere')}</dd>
        <dt>{t('meta.created')}</dt>
        <dd>
          <TimeText at={note.created_ms} />
          {note.created_by && <div className={classes['muted']}>{t('by', { who: note.created_by })}</div>}
        </dd>
        <dt>{t('meta.updated')}</dt>
        <dd>
          <TimeText at={note.updated_ms} />
          {note.updated_by && <div className={classes['muted']}>{t('by', { who: note.updated_by })}</div>}
        </dd>
        <dt>{t('meta.uses')}</dt>
        <dd>{t('meta.usesTold', { used: number(note.uses), shown: number(note.shown) })}</dd>
        <dt>{t('meta.size')}</dt>
        <dd>{t('meta.sizeTold', { chars: number(note.chars), tokens: number(note.tokens) })}</dd>
        {note.source && (
          <>
            <dt>{t('meta.source')}</dt>
            <dd>{session ? <PageLink to={`/ui/sessions/${session}`}>{note.source}</PageLink> : note.source}</dd>
          </>
        )}
      </dl>
    </Panel>
  );
}
