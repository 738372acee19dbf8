// Everything at a glance: the queue, the state of worker and search, trends, what happens and what failed.
import { Skeleton } from '@mantine/core';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useShortcuts } from '@/app/useShortcuts';
import { useLiveEvents, useQueueDepth } from '@/live/useLive';
import { Counters } from './Counters';
import { FailureClasses } from './FailureClasses';
import { feed } from './feed';
import { Health } from './Health';
import { Newest } from './Newest';
import { useSystem } from '@/parts/WorkerFacts';
import { useNewest, useRefresh } from './queries';
import { NO_FILTERS, type TabProps } from './state';
import classes from './Viewer.module.css';

// The figures come first; lists and charts are loaded behind them.
const FirstVisit = lazy(() => import('./FirstVisit').then((module) => ({ default: module.FirstVisit })));
const LiveStream = lazy(() => import('./LiveStream').then((module) => ({ default: module.LiveStream })));
const Trends = lazy(() => import('./Trends').then((module) => ({ default: module.Trends })));

const GATHER_MS = 400; // events come in bursts; one question for all of them

export function Overview({ state, set }: TabProps) {
  const { t } = useTranslation('viewer');
  const [paused, setPaused] = useState(false);
  const depth = useStill(useQueueDepth(), paused);
  const system = useSystem(!paused && 15_000);
  const any = useNewest('', paused);
  useRefreshed(paused);
  useEffect(() => () => feed.hold(false), []);
  useShortcuts([
    {
      keys: 'p',
      label: paused ? t('stream.resume') : t('stream.pause'),
      group: 'here',
      run: () => setPaused(!paused),
    },
  ]);

  const empty = any.data?.items.length === 0 && system.data?.agents.length === 0;
  const [first, setFirst] = useState(false);
  const [passed, setPassed] = useState(false);
  if (empty && !first && !passed) setFirst(true);

  return (
    <>
      <Counters depth={depth} range={state.range} paused={paused} set={set} />
      <Health system={system} />
      {system.isPending ? (
        <Skeleton h={480} />
      ) : first && !passed ? (
        <Suspense fallback={<Skeleton h={480} />}>
          <FirstVisit onDone={() => setPassed(true)} />
        </Suspense>
      ) : (
        <>
          <Suspense fallback={<Skeleton h={310} />}>
            <Trends state={state} set={set} paused={paused} />
          </Suspense>
          <div className={classes['columns']}>
            <Suspense fallback={<Skeleton h={266} />}>
              <LiveStream state={state} set={set} paused={paused} onPause={setPaused} />
            </Suspense>
            <div className="column gap12">
              <FailureClasses
                state={{ ...state, ...NO_FILTERS }}
                set={set}
                failed={depth?.failed ?? 0}
                paused={paused}
                linked
              />
              <Newest project={state.project} paused={paused} />
            </div>
          </div>
        </>
      )}
    </>
  );
}

/** A value that stands still while the view is paused. */
function useStill<T>(value: T, paused: boolean): T {
  const kept = useRef(value);
  if (!paused) kept.current = value;
  return kept.current;
}

/** What was written or failed is asked for soon after it was told. */
function useRefreshed(paused: boolean) {
  const refresh = useRefresh();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const still = useRef(paused);
  still.current = paused;
  const missed = useRef(false);
  const soon = () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      ['newest', 'failures', 'trends', 'system'].forEach(refresh);
    }, GATHER_MS);
  };
  useLiveEvents((event) => {
    if (!event.id) return;
    if (still.current) missed.current = true;
    else soon();
  });
  useEffect(() => {
    if (paused || !missed.current) return;
    missed.current = false;
    ['newest', 'failures', 'trends', 'system'].forEach(refresh);
  }, [paused, refresh]);
  useEffect(() => () => clearTimeout(timer.current), []);
}
