// The queue in four figures, each with a small line of how it went.
import { UnstyledButton } from '@mantine/core';
import { IconArrowRight } from '@tabler/icons-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import type { Depth } from '@/live/useLive';
import { useTrends } from './queries';
import type { Range, SetState } from './state';
import { sparkPoints } from './figures';
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
        className={`${classes['counter']} column`}
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
    <div className={`${classes['counter']} column`} role="group" aria-label={name}>
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

const WIDTH = 120;
const HEIGHT = 24;

/** A small line of how a figure went; its name says what it is, the figure beside it what it is now. */
function Spark({ values, label, tone }: { values: readonly number[]; label: string; tone: 1 | 2 | 3 }) {
  const points = sparkPoints(values.length > 1 ? values : [0, 0], WIDTH, HEIGHT);
  return (
    <svg
      className={classes['spark']}
      viewBox={`0 -2 ${WIDTH} ${HEIGHT + 4}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <polygon points={`0,${HEIGHT} ${points} ${WIDTH},${HEIGHT}`} fill={`var(--cm-chart-${tone})`} opacity="0.14" />
      <polyline
        points={points}
        fill="none"
        stroke={`var(--cm-chart-${tone})`}
        strokeWidth="1.5"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}
