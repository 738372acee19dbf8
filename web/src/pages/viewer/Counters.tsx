// The queue in four figures, each with a small line of how it went.
import { UnstyledButton } from '@mantine/core';
import { IconArrowRight } from '@tabler/icons-react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import type { Depth } from '@/live/useLive';
import { useTrends } from './queries';
import { Spark } from './Spark';
import type { Range, SetState } from './state';
import classes from './Counters.module.css';

const MOST = 10_000; // the server counts no further
const SAMPLES = 60;

type Props = { depth: Depth | null; range: Range; paused: boolean; set: SetState };

export function Counters({ depth, range, paused, set }: Props) {
  const { t, i18n } = useTranslation('viewer');
  const trends = useTrends(range, paused);
  const waiting = useSamples(depth);
  const buckets = trends.data?.buckets ?? [];
  const done = buckets.reduce((sum, bucket) => sum + bucket.queueCount, 0);
  const over = t(`over.${range}`);
  const write = (value: number | undefined) => {
    if (value === undefined) return '–';
    const written = value.toLocaleString(localeTag(i18n.language));
    return value >= MOST ? t('counters.atLeast', { count: value, replace: { count: written } }) : written;
  };
  const failed = depth?.failed;
  return (
    <section className={classes['counters']} aria-label={t('counters.label')}>
      <Counter name={t('counters.queued')} value={write(depth?.queued)} hint={t('counters.queuedHint')}>
        <Spark values={waiting} label={t('counters.queuedTrend')} tone={1} />
      </Counter>
      <Counter name={t('counters.running')} value={write(depth?.running)} hint={t('counters.runningHint')} />
      <Counter
        name={t('counters.done')}
        value={trends.data ? done.toLocaleString(localeTag(i18n.language)) : '–'}
        hint={over}
      >
        <Spark values={buckets.map((bucket) => bucket.queueCount)} label={t('counters.doneTrend', { over })} tone={3} />
      </Counter>
      <UnstyledButton
        className={classes['counter'] ?? ''}
        data-alarm={(failed ?? 0) > 0 || undefined}
        title={t('counters.showFailures')}
        onClick={() => set({ tab: 'failures' })}
      >
        <span className={classes['name']}>
          {t('counters.failed')}
          <IconArrowRight size={14} aria-hidden />
        </span>
        <span className={classes['value']}>{write(failed)}</span>
        <span className={classes['hint']}>{t('counters.failedHint')}</span>
        <Spark
          values={buckets.map((bucket) => bucket.failureCount)}
          label={t('counters.failedTrend', { over })}
          tone={2}
        />
      </UnstyledButton>
    </section>
  );
}

function Counter({ name, value, hint, children }: { name: string; value: string; hint: string; children?: ReactNode }) {
  return (
    <div className={classes['counter']} role="group" aria-label={name}>
      <span className={classes['name']}>{name}</span>
      <span className={classes['value']}>{value}</span>
      <span className={classes['hint']}>{hint}</span>
      {children}
    </div>
  );
}

/** How much waited, each time it was told; the last minute or so. */
function useSamples(depth: Depth | null): readonly number[] {
  const [samples, setSamples] = useState<readonly number[]>([]);
  const latest = useRef(depth);
  latest.current = depth;
  useEffect(() => {
    const take = () => {
      const now = latest.current;
      if (now) setSamples((before) => [...before, now.queued].slice(-SAMPLES));
    };
    take();
    const timer = setInterval(take, 2_000);
    return () => clearInterval(timer);
  }, []);
  return samples;
}
