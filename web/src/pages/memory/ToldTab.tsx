// To whom a memory was told: the sessions it was handed to, and how often it was used.
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { Facts } from '@/parts/Facts';
import { Empty, Panel } from '@/parts/Panel';
import { PageLink } from '@/parts/Ref';
import { TimeText } from '@/parts/TimeText';
import type { Provenance } from './queries';
import classes from './Memory.module.css';
import lines from './Lineage.module.css';

export function ToldTab({ from }: { from: Provenance | undefined }) {
  const { t, i18n } = useTranslation('memory');
  if (!from) return null;
  const number = (value: number) => value.toLocaleString(localeTag(i18n.language));
  const { memory, told_to: sessions, more_told: more } = from;
  const newest = [...sessions].reverse();
  return (
    <div className={classes['columns']}>
      <Panel title={t('told.sessions')} degraded={more ? t('told.more', { count: sessions.length }) : null} flush>
        {newest.length ? (
          <ul className="plain">
            {newest.map((each) => (
              <li key={each.session} className={lines['item']}>
                <span className={lines['line']}>
                  {each.id === null ? (
                    <span>{each.session}</span>
                  ) : (
                    <PageLink to={`/ui/sessions/${each.id}`}>{t('fact.sessionOf', { number: each.id })}</PageLink>
                  )}
                  <span className={lines['muted']}>{[each.platform, each.project].filter(Boolean).join(' · ')}</span>
                </span>
                <span className={lines['end']}>
                  <TimeText at={each.at_ms} />
                </span>
              </li>
            ))}
          </ul>
        ) : (
          <Empty title={t('told.none')} why={t('told.noneWhy')} />
        )}
      </Panel>
      <Panel title={t('told.counts')}>
        <Facts
          facts={[
            [t('told.shown'), t('told.times', { count: memory.shown, number: number(memory.shown) })],
            [t('told.used'), t('told.times', { count: memory.used, number: number(memory.used) })],
            [
              t('told.confirmed'),
              memory.confirmed > 0 && t('told.times', { count: memory.confirmed, number: number(memory.confirmed) }),
            ],
          ]}
        />
        <p className="muted">{t('told.kept')}</p>
      </Panel>
    </div>
  );
}
