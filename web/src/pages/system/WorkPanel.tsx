// The worker and its queue: whether jobs run, how many wait, and since when.
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { Panel, type QueryLike } from '@/parts/Panel';
import { PageLink } from '@/parts/Ref';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import { spanText } from './amounts';
import { Fact, Facts } from './Facts';
import type { System } from './queries';
import classes from './System.module.css';

const COUNTS = ['queued', 'running', 'failed', 'completed', 'canceled'] as const;

export function WorkPanel({ system }: { system: QueryLike<System> }) {
  const { t } = useTranslation('system');
  return (
    <Panel title={t('work.title')} state={system}>
      {(data: System) => (
        <>
          <Queue {...data} />
          <Facts>
            <Worker {...data} />
          </Facts>
        </>
      )}
    </Panel>
  );
}

function Queue({ queue }: System) {
  const { t, i18n } = useTranslation('system');
  const write = (count: number) => {
    const written = count.toLocaleString(localeTag(i18n.language));
    return count >= queue.countedUpTo ? t('work.atLeast', { count: written }) : written;
  };
  return (
    <dl className={classes['tiles']}>
      {COUNTS.map((name) => (
        <div key={name} data-alarm={(name === 'failed' && queue.failed > 0) || undefined}>
          <dt>
            {name === 'failed' && queue.failed > 0 ? (
              <PageLink to="/viewer?tab=failures">{t('work.failed')}</PageLink>
            ) : (
              t(`work.${name}`)
            )}
          </dt>
          <dd>{write(queue[name])}</dd>
        </div>
      ))}
    </dl>
  );
}

function Worker({ worker, queue, phase, atEpoch }: System) {
  const { t, i18n } = useTranslation('system');
  const [status, said, why] = !worker.enabled
    ? (['off', t('work.away'), t('work.awayWhy')] as const)
    : !worker.running
      ? (['failed', t('work.stopped'), t('work.stoppedWhy')] as const)
      : phase === 'stalled'
        ? (['failed', t('work.stalled'), t('work.stalledWhy')] as const)
        : worker.overdueJobs > 0
          ? (['degraded', t('work.behind', { count: worker.overdueJobs }), null] as const)
          : (['ok', worker.runningJobs > 0 ? t('work.working') : t('work.idle'), null] as const);
  return (
    <>
      <Fact name={t('work.worker')}>
        <StatusMark status={status} detail={said} />
        {why && <p className={classes['why']}>{why}</p>}
      </Fact>
      <Fact name={t('work.lastEnded')}>
        <TimeText at={worker.lastEndedMs === null ? null : atEpoch - worker.lastEndedMs} />
      </Fact>
      {queue.oldestWaiting && (
        <Fact name={t('work.oldest')}>
          {t('work.oldestIs', {
            kind: queue.oldestWaiting.kind,
            span: spanText(queue.oldestWaiting.waitingMs / 1_000, i18n.language),
          })}
        </Fact>
      )}
    </>
  );
}
