// How far an item is believed, and from which reports that came about.
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import classes from './Qa.module.css';
import type { QaItem } from './queries';

const PROVEN = 0.75; // from which on trials alone validate a candidate

export function Evidence({ item }: { item: QaItem }) {
  const { t, i18n } = useTranslation('qa');
  const number = (count: number) => count.toLocaleString(localeTag(i18n.language));
  const value = item.confidence.toFixed(2);
  const reports = [
    ['shown', item.hits.shown],
    ['used', item.hits.used],
    ['worked', item.validations.success],
    ['failed', item.validations.failure],
  ] as const;
  const reported = reports.some(([, count]) => count > 0);
  return (
    <section className={classes['box']}>
      <h3>{t('evidence.title')}</h3>
      <div className={classes['meterLine']}>
        <div
          role="meter"
          aria-label={t('evidence.title')}
          aria-valuemin={0}
          aria-valuemax={1}
          aria-valuenow={item.confidence}
          aria-valuetext={t('evidence.meter', { value })}
          className={classes['meter']}
        >
          <span style={{ width: `${item.confidence * 100}%` }} />
          <i style={{ insetInlineStart: `${PROVEN * 100}%` }} />
        </div>
        <strong>{value}</strong>
      </div>
      <dl className={classes['reports']}>
        {reports.map(([name, count]) => (
          <div key={name}>
            <dt>{t(`evidence.${name}`)}</dt>
            <dd>{number(count)}</dd>
          </div>
        ))}
      </dl>
      <p className={classes['why']}>{reported ? t('evidence.some') : t('evidence.none')}</p>
      {item.status === 'candidate' && <p className={classes['why']}>{t('evidence.line')}</p>}
    </section>
  );
}
