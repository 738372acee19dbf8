// The memories that were written last; each opens.
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/api/client';
import { Panel } from '@/parts/Panel';
import { PageLink, Ref } from '@/parts/Ref';
import { TimeText } from '@/parts/TimeText';
import { useKindName } from './kinds';
import { useNewest } from './queries';
import { plainLine } from '@/parts/snippet';
import classes from './Newest.module.css';

export function Newest({ project, paused }: { project: string; paused: boolean }) {
  const { t } = useTranslation('viewer');
  const newest = useNewest(project, paused);
  return (
    <Panel
      title={project ? t('newest.titleOf', { project }) : t('newest.title')}
      state={newest}
      isEmpty={({ items }) => items.length === 0}
      empty={{
        title: project ? t('newest.filtered', { project }) : t('newest.empty'),
        why: t('newest.emptyWhy'),
      }}
      actions={
        <span className={classes['all']}>
          <PageLink to={project ? `/ui/memories?project=${encodeURIComponent(project)}` : '/ui/memories'}>
            {t('newest.all')}
          </PageLink>
        </span>
      }
      flush
    >
      {({ items }) => <NewestList items={items} project={project} />}
    </Panel>
  );
}

/** Memories by their titles, with their projects unless all are of one. */
export function NewestList({ items, project = '' }: { items: readonly Schemas['TimelineRow'][]; project?: string }) {
  const { t } = useTranslation('viewer');
  const nameOf = useKindName();
  return (
    <ul className={classes['list']}>
      {items.map(({ ref, kind, title, snippet, created_ms, project: of }) => (
        <li key={ref}>
          <span className={classes['title']}>
            <Ref reference={ref} copy={false}>
              {plainLine(title || snippet) || t('newest.untitled')}
            </Ref>
          </span>
          <span className={classes['about']}>
            <span>{nameOf(kind)}</span>
            {of && !project && <span>{of}</span>}
            <TimeText at={created_ms} />
          </span>
        </li>
      ))}
    </ul>
  );
}
