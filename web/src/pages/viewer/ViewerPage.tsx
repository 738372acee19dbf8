// What the memory is doing right now: overview, searches, timings and failures, each with its state in the address.
import '@mantine/core/styles/Tabs.layer.css';
import { Badge, Skeleton, Tabs } from '@mantine/core';
import { lazy, Suspense, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchState } from '@/app/searchState';
import { useQueueDepth } from '@/live/useLive';
import { Page } from '@/parts/Page';
import { listen } from './feed';
import { Overview } from './Overview';
import { SCHEMA, TABS } from './state';
import classes from './Viewer.module.css';

const Traces = lazy(() => import('./Traces').then((module) => ({ default: module.Traces })));
const Timings = lazy(() => import('./Timings').then((module) => ({ default: module.Timings })));
const Failures = lazy(() => import('./Failures').then((module) => ({ default: module.Failures })));

export function ViewerPage() {
  const { t } = useTranslation('viewer');
  const [state, set] = useSearchState(SCHEMA);
  const failed = useQueueDepth()?.failed ?? 0;
  useEffect(listen, []);
  return (
    <Page title={t('title')} description={t('description')}>
      <Tabs
        value={state.tab}
        onChange={(tab) => set({ tab: TABS.find((each) => each === tab) ?? 'overview', sel: null })}
      >
        <Tabs.List aria-label={t('tabs.label')}>
          {TABS.map((tab) => (
            <Tabs.Tab
              key={tab}
              value={tab}
              rightSection={
                tab === 'failures' && failed > 0 ? (
                  <Badge size="sm" color="red">
                    {failed}
                  </Badge>
                ) : null
              }
            >
              {t(`tabs.${tab}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="overview" className={classes['view'] ?? ''}>
          <Overview state={state} set={set} />
        </Tabs.Panel>
        <Suspense fallback={<Skeleton h={240} mt="lg" />}>
          <Tabs.Panel value="traces" className={classes['view'] ?? ''}>
            <Traces state={state} set={set} />
          </Tabs.Panel>
          <Tabs.Panel value="timings" className={classes['view'] ?? ''}>
            <Timings state={state} set={set} />
          </Tabs.Panel>
          <Tabs.Panel value="failures" className={classes['view'] ?? ''}>
            <Failures state={state} set={set} />
          </Tabs.Panel>
        </Suspense>
      </Tabs>
    </Page>
  );
}
