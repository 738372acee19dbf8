// The day that the rows below belong to.
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import { usePreferences } from '@/app/preferences';
import { localeTag } from '@/i18n';
import { dayOf } from './days';
import classes from './Timeline.module.css';

const DAY_MS = 86_400_000;

export const DayHeading = memo(function DayHeading({ at }: { at: number }) {
  const { t, i18n } = useTranslation('timeline');
  const { clock } = usePreferences();
  const format = new Intl.DateTimeFormat(localeTag(i18n.language), {
    dateStyle: 'full',
    ...(clock === 'utc' ? { timeZone: 'UTC' } : {}),
  });
  const [now, day] = [Date.now(), dayOf(at, clock)];
  const near =
    day === dayOf(now, clock) ? t('list.today') : day === dayOf(now - DAY_MS, clock) ? t('list.yesterday') : null;
  return (
    <span className={classes['day']}>
      {near && <strong>{near}</strong>}
      <span>{format.format(at)}</span>
    </span>
  );
});
