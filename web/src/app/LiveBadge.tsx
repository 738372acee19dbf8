// Whether what is shown keeps up with the server.
import { useTranslation } from 'react-i18next';
import { useLiveState } from '@/live/useLive';
import classes from './Shell.module.css';

export function LiveBadge() {
  const { t } = useTranslation('shell');
  const state = useLiveState();
  return (
    <span className={classes['live']} data-state={state} role="status" title={t(`live.${state}Hint`)}>
      <span className={classes['dot']} aria-hidden />
      <span className={classes['word']}>{t(`live.${state}`)}</span>
    </span>
  );
}
