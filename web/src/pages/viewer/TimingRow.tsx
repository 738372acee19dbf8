// One extraction in the list: when, whose, what, and its time as a bar in parts.
import { useTranslation } from 'react-i18next';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import { Bar, type Part } from './Bar';
import { duration } from './figures';
import type { Timing } from './queries';
import classes from './Viewer.module.css';

export const PARTS = [
  { name: 'queueWait', tone: 6 },
  { name: 'model', tone: 1 },
  { name: 'index', tone: 3 },
  { name: 'other', tone: 5 },
] as const satisfies readonly { name: string; tone: Part['tone'] }[];

type Measured = Pick<Timing, 'queueWaitMs' | 'modelMs' | 'indexMs' | 'totalMs'>;

/** The parts of the whole time; what none of them explains is the rest. */
export function partsOf({ queueWaitMs, modelMs, indexMs, totalMs }: Measured): Part[] {
  const values = [queueWaitMs, modelMs, indexMs, Math.max(0, totalMs - queueWaitMs - modelMs - indexMs)];
  return PARTS.map((part, at) => ({ ...part, value: values[at] ?? 0 }));
}

const first = [classes['when'], classes['first']].join(' ');
const word = [classes['word'], classes['wide']].join(' ');
const mark = [classes['word'], classes['middle']].join(' ');

export function TimingHead() {
  const { t } = useTranslation('viewer');
  return (
    <div className={classes['head']} aria-hidden>
      <span className={first}>{t('timings.columns.when')}</span>
      <span className={word}>{t('timings.columns.session')}</span>
      <span className={word}>{t('timings.columns.type')}</span>
      <span className={mark}>{t('filters.success')}</span>
      <span className={classes['grow']}>{t('timings.columns.bar')}</span>
      <span className={classes['number']}>{t('timings.columns.total')}</span>
    </div>
  );
}

export function TimingRow({ row, full }: { row: Timing; full: number }) {
  const { t, i18n } = useTranslation('viewer');
  const write = (ms: number) => duration(ms, i18n.language);
  const { messageType: type } = row;
  return (
    <>
      <span className={first}>
        <TimeText at={row.atEpoch} />
      </span>
      <span className={word}>
        {row.sessionDbId === null ? t('timings.noSession') : t('timings.session', { id: row.sessionDbId })}
      </span>
      <span className={word}>{type === 'observation' || type === 'summarize' ? t(`timings.type.${type}`) : type}</span>
      <span className={mark}>
        <StatusMark status={row.success ? 'completed' : 'failed'} />
      </span>
      <Bar
        parts={partsOf(row)}
        full={full}
        label={t('timings.bar', {
          queueWait: write(row.queueWaitMs),
          model: write(row.modelMs),
          index: write(row.indexMs),
          total: write(row.totalMs),
        })}
      />
      <span className={classes['number']}>{write(row.totalMs)}</span>
    </>
  );
}
