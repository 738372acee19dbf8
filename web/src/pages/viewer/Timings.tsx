// How long each message took to become memory: waiting, model, storing.
import { Skeleton, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { FilterFold } from '@/parts/FilterFold';
import { Panel } from '@/parts/Panel';
import { VirtualRows } from '@/parts/VirtualRows';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import { Bar, Legend, type Part } from './Bar';
import { durationText } from '@/parts/amounts';
import { fullLength } from './figures';
import { Exports, FilterChoice, FilterText, FilterTime } from './Filters';
import { type Timing, useTimings } from './queries';
import { narrowed, NO_FILTERS, type TabProps, WORK } from './state';
import styles from './Timings.module.css';
import classes from './Viewer.module.css';

export function Timings({ state, set }: TabProps) {
  const { t } = useTranslation('viewer');
  const navigate = useNavigate();
  const { query, rows, more, hasMore, loadingMore } = useTimings(state);
  const full = useMemo(() => fullLength(rows.map((row) => row.totalMs)), [rows]);
  const filtered = narrowed(state, ['session', 'type', 'success', 'from', 'to']);
  const setSession = (typed: string) => set({ session: typed ? Number(typed) : null }, { replace: true });
  const clear = () => set({ ...NO_FILTERS });
  const none = filtered ? { text: t('filters.noneTimings'), onClear: clear } : undefined;
  const empty = { title: t('timings.empty'), why: t('timings.emptyWhy') };
  return (
    <>
      <FilterFold boxed values={[state.session, state.type, state.success, state.from, state.to]}>
        <FilterText
          label={t('filters.session')}
          value={state.session === null ? '' : String(state.session)}
          onChange={setSession}
          numeric
        />
        <FilterChoice
          label={t('filters.type')}
          value={state.type}
          options={WORK.map((value) => ({ value, label: t(`timings.type.${value}`) }))}
          onChange={(type) => set({ type: WORK.find((each) => each === type) ?? '' })}
        />
        <FilterChoice
          label={t('filters.success')}
          value={state.success}
          options={[
            { value: 'true', label: t('timings.success.yes') },
            { value: 'false', label: t('timings.success.no') },
          ]}
          onChange={(success) => set({ success: success === 'true' || success === 'false' ? success : '' })}
        />
        <FilterTime name="from" state={state} set={set} />
        <FilterTime name="to" state={state} set={set} />
        <Exports what="timings" state={state} />
      </FilterFold>
      {query.isPending ? (
        <Skeleton h={320} />
      ) : (
        <>
          {rows.length > 0 && <Averages rows={rows} />}
          <Panel
            label={t('timings.label')}
            state={query}
            isEmpty={() => rows.length === 0}
            empty={empty}
            filtered={none}
            degraded={rows.at(-1)?.looked.truncated && !hasMore ? t('timings.truncated') : null}
            flush
          >
            <div className={classes['table']}>
              <TimingHead />
              <VirtualRows
                rows={rows}
                keyOf={(row) => String(row.id)}
                render={(row) => <TimingRow row={row} full={full} />}
                label={t('timings.label')}
                onOpen={({ sessionDbId }) => {
                  if (sessionDbId !== null)
                    void navigate({ to: '/ui/sessions/$id', params: { id: String(sessionDbId) } });
                }}
                onEndReached={more}
                loadingMore={loadingMore}
              />
            </div>
          </Panel>
        </>
      )}
      <Scale rows={rows} full={full} />
    </>
  );
}

function Scale({ rows, full }: { rows: readonly Timing[]; full: number }) {
  const { t, i18n } = useTranslation('viewer');
  if (!rows.some((row) => row.totalMs > full)) return null;
  return (
    <Text size="xs" c="dimmed">
      {t('timings.cut', { ms: durationText(full, i18n.language) })}
    </Text>
  );
}

function Averages({ rows }: { rows: readonly Timing[] }) {
  const { t, i18n } = useTranslation('viewer');
  const mean = (name: keyof Timing) => rows.reduce((sum, row) => sum + Number(row[name]), 0) / rows.length;
  const averages = {
    queueWaitMs: mean('queueWaitMs'),
    modelMs: mean('modelMs'),
    indexMs: mean('indexMs'),
    totalMs: mean('totalMs'),
  };
  const parts = partsOf(averages);
  const write = (ms: number) => durationText(ms, i18n.language);
  const succeeded = rows.filter((row) => row.success).length;
  const count = rows.length;
  const counted = { count, replace: { count: count.toLocaleString(localeTag(i18n.language)) } };
  return (
    <Panel title={t('timings.averagesOf', counted)}>
      <div className={styles['averages']}>
        {(['queueWait', 'model', 'index', 'total'] as const).map((name) => (
          <div key={name} className={styles['average']} role="group" aria-label={t(`timings.parts.${name}`)}>
            <span className="muted size12">{t(`timings.parts.${name}`)}</span>
            <span className={styles['value']}>{write(averages[`${name}Ms`])}</span>
          </div>
        ))}
        <div className={styles['average']}>
          <span className="muted size12">{t('filters.success')}</span>
          <span className={styles['outcome']}>{t('timings.outcome', { succeeded, failed: count - succeeded })}</span>
        </div>
      </div>
      <Bar
        parts={parts}
        label={t('timings.bar', {
          queueWait: write(averages.queueWaitMs),
          model: write(averages.modelMs),
          index: write(averages.indexMs),
          total: write(averages.totalMs),
        })}
        tall
      />
      <div className={styles['legend']}>
        <Legend parts={PARTS.map(({ name, tone }) => ({ name, tone, label: t(`timings.parts.${name}`) }))} />
      </div>
    </Panel>
  );
}

const PARTS = [
  { name: 'queueWait', tone: 6 },
  { name: 'model', tone: 1 },
  { name: 'index', tone: 3 },
  { name: 'other', tone: 5 },
] as const satisfies readonly { name: string; tone: Part['tone'] }[];

type Measured = Pick<Timing, 'queueWaitMs' | 'modelMs' | 'indexMs' | 'totalMs'>;

/** The parts of the whole time; what none of them explains is the rest. */
function partsOf({ queueWaitMs, modelMs, indexMs, totalMs }: Measured): Part[] {
  const values = [queueWaitMs, modelMs, indexMs, Math.max(0, totalMs - queueWaitMs - modelMs - indexMs)];
  return PARTS.map((part, at) => ({ ...part, value: values[at] ?? 0 }));
}

const first = [classes['when'], classes['first']].join(' ');
const word = [`${classes['word']} cut`, classes['wide']].join(' ');
const mark = [`${classes['word']} cut`, classes['middle']].join(' ');

function TimingHead() {
  const { t } = useTranslation('viewer');
  return (
    <div className={classes['head']} aria-hidden>
      <span className={first}>{t('timings.columns.when')}</span>
      <span className={word}>{t('timings.columns.session')}</span>
      <span className={word}>{t('timings.columns.type')}</span>
      <span className={mark}>{t('filters.success')}</span>
      <span className="cut grow">{t('timings.columns.bar')}</span>
      <span className={classes['number']}>{t('timings.columns.total')}</span>
    </div>
  );
}

/** One extraction in the list: when, whose, what, and its time as a bar in parts. */
function TimingRow({ row, full }: { row: Timing; full: number }) {
  const { t, i18n } = useTranslation('viewer');
  const write = (ms: number) => durationText(ms, i18n.language);
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
