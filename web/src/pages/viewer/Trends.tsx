// Searches, finished work and failures over time, as a chart or as a table.
import { SegmentedControl } from '@mantine/core';
import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Chart } from '@/parts/Chart';
import { Panel } from '@/parts/Panel';
import { durationText } from '@/parts/amounts';

import { trySearch, useTrends, type Bucket } from './queries';
import { RANGES, type TabProps } from './state';

export function Trends({ state, set, paused }: TabProps & { paused: boolean }) {
  const { t } = useTranslation('viewer');
  const { range, show } = state;
  const trends = useTrends(range, paused);
  const over = t(`over.${range}`);
  return (
    <Panel
      title={t('trends.title')}
      state={trends}
      isEmpty={({ buckets }) => buckets.every((each) => !each.searchCount && !each.queueCount && !each.failureCount)}
      empty={{ title: t('trends.empty', { over }), why: t('trends.emptyWhy'), command: trySearch() }}
      degraded={trends.data?.truncated ? t('trends.truncated') : null}
      actions={
        <>
          <SegmentedControl
            aria-label={t('trends.show')}
            value={show}
            onChange={(value) => set({ show: value === 'times' ? value : 'counts' })}
            data={(['counts', 'times'] as const).map((value) => ({ value, label: t(`trends.${value}`) }))}
          />
          <SegmentedControl
            aria-label={t('range.label')}
            value={range}
            onChange={(value) => set({ range: RANGES.find((each) => each === value) ?? '1h' })}
            data={RANGES.map((value) => ({ value, label: t(`range.${value}`) }))}
          />
        </>
      }
    >
      {({ buckets }) => <Drawn buckets={buckets} show={show} over={over} />}
    </Panel>
  );
}

function Drawn({ buckets, show, over }: { buckets: readonly Bucket[]; show: 'counts' | 'times'; over: string }) {
  const { t, i18n } = useTranslation('viewer');
  const axis = useMemo(() => buckets.map((bucket) => bucket.atEpoch), [buckets]);
  // Failures are the second series of every chart.
  const series = useMemo(
    () =>
      show === 'counts'
        ? [
            { name: t('trends.searches'), values: buckets.map((bucket) => bucket.searchCount) },
            { name: t('trends.failures'), values: buckets.map((bucket) => bucket.failureCount), bar: true },
            { name: t('trends.extractions'), values: buckets.map((bucket) => bucket.queueCount) },
          ]
        : [
            { name: t('trends.searchMs'), values: buckets.map((bucket) => bucket.avgSearchMs) },
            { name: t('trends.extractionMs'), values: buckets.map((bucket) => bucket.avgQueueTotalMs) },
          ],
    [buckets, show, t],
  );
  const language = i18n.language;
  const inTime = useCallback((ms: number) => durationText(ms, language), [language]);
  return (
    <Chart
      kind="line"
      axis={axis}
      axisName={t('trends.time')}
      series={series}
      label={t('trends.label', { over })}
      height={200}
      {...(show === 'times' ? { format: inTime } : {})}
    />
  );
}
