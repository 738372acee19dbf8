// How far the runs of a batch have come: a bar of those that have ended, by outcome, and the same in words.
import '@mantine/core/styles/Progress.layer.css';
import { Progress } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Batch } from '@/api/lab';
import classes from './Lab.module.css';

const TONES = [
  ['completed', 'var(--cm-ok)'],
  ['failed', 'var(--cm-err)'],
  ['canceled', 'var(--cm-control)'],
] as const;

export function RunsProgress({ batch }: { batch: Batch }) {
  const { t } = useTranslation('lab');
  const { runs_by_status: runs, n_runs: count } = batch;
  const done = runs.completed + runs.failed + runs.canceled;
  return (
    <span className={classes['progress']}>
      <Progress.Root size={6} aria-hidden className={classes['bar']}>
        {TONES.map(([name, color]) => (
          <Progress.Section key={name} value={(runs[name] / count) * 100} color={color} />
        ))}
      </Progress.Root>
      <span className={classes['figures']}>
        {t('runsDone', { done, count })}
        {runs.failed > 0 && <span className="err">{t('runsFailed', { count: runs.failed })}</span>}
      </span>
    </span>
  );
}
