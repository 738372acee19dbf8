// What the server says of itself, and whether its jobs run: on the page of operations and on the page of the system.
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api, ask, type Schemas } from '@/api/client';
import { Fact } from './Facts';
import { StatusMark } from './StatusMark';
import { TimeText } from './TimeText';

export type System = Schemas['SystemAnswer'];

export function useSystem(everyMs: number | false) {
  return useQuery({
    queryKey: ['viewer', 'system'],
    queryFn: ({ signal }) => ask(api.GET('/api/ops/system', { signal })),
    refetchInterval: everyMs,
  });
}

/** The worker, with the reason if jobs do not run, and when the last one ended. */
export function WorkerFacts({ worker, phase, atEpoch }: System) {
  const { t } = useTranslation('viewer');
  const [status, said, why] = !worker.enabled
    ? (['off', t('health.away'), t('health.awayWhy')] as const)
    : !worker.running
      ? (['failed', t('health.stopped'), t('health.stoppedWhy')] as const)
      : phase === 'stalled'
        ? (['failed', t('health.stalled'), t('health.stalledWhy')] as const)
        : worker.overdueJobs > 0
          ? (['degraded', t('health.behind', { count: worker.overdueJobs }), null] as const)
          : (['ok', worker.runningJobs > 0 ? t('health.working') : t('health.idle'), null] as const);
  return (
    <>
      <Fact name={t('health.worker')}>
        <StatusMark status={status} detail={said} />
        {why && <p className="size13 flat">{why}</p>}
      </Fact>
      <Fact name={t('health.lastEnded')}>
        <TimeText at={worker.lastEndedMs === null ? null : atEpoch - worker.lastEndedMs} />
      </Fact>
    </>
  );
}
