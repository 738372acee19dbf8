// What a note points to and what points to it; an address that names nothing yet can be written from here.
import { useTranslation } from 'react-i18next';
import { Empty, Panel } from '@/parts/Panel';
import { PageLink, Ref } from '@/parts/Ref';
import { StatusMark } from '@/parts/StatusMark';
import { PriorityBadge } from './PriorityBadge';
import type { Note, NoteRelation } from './queries';
import { useRelationName } from './useRelationName';
import classes from './Note.module.css';

export function RelationsTab({ note }: { note: Note }) {
  const { t } = useTranslation('notes');
  const to = note.relations.filter((each) => each.direction === 'to');
  const from = note.relations.filter((each) => each.direction === 'from');
  return (
    <div className={classes['both']}>
      <Panel title={t('relations.to')} flush>
        <Relations relations={to} none={t('relations.noneTo')} why={t('relations.how')} />
      </Panel>
      <Panel title={t('relations.from')} flush>
        <Relations relations={from} none={t('relations.noneFrom')} why={t('relations.how')} />
      </Panel>
    </div>
  );
}

function Relations({ relations, none, why }: { relations: readonly NoteRelation[]; none: string; why: string }) {
  const { t } = useTranslation('notes');
  const relationName = useRelationName();
  if (!relations.length) return <Empty title={none} why={why} />;
  return (
    <ul className={classes['items']}>
      {relations.map((each) => (
        <li key={`${each.relation} ${each.uri}`} className={classes['item']}>
          <div className={classes['relation']}>
            <span>
              <span className={classes['muted']}>{relationName(each.relation)}</span>{' '}
              <Ref reference={each.uri} copy={false} />
            </span>
            {each.headline && (
              <span className={classes['muted']} title={each.headline}>
                {each.headline}
              </span>
            )}
          </div>
          {each.seq === null ? (
            <PageLink to={`/ui/memories?new=${encodeURIComponent(each.uri)}`}>{t('relations.write')}</PageLink>
          ) : (
            each.status && each.status !== 'active' && <StatusMark status={each.status} />
          )}
          {each.priority !== null && <PriorityBadge priority={each.priority} />}
        </li>
      ))}
    </ul>
  );
}
