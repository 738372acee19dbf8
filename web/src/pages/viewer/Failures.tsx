// Jobs that failed for good: by class, each with its message, and the way to let them run again.
import { Text } from '@mantine/core';
import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import { useShortcuts } from '@/app/useShortcuts';
import { useLiveEvents, useQueueDepth } from '@/live/useLive';
import { Panel } from '@/parts/Panel';
import { SplitView } from '@/parts/SplitView';
import { TimeText } from '@/parts/TimeText';
import { VirtualRows } from '@/parts/VirtualRows';
import { FailureClasses } from './FailureClasses';
import { FailureDetail } from './FailureDetail';
import { Exports, FilterBar, FilterChoice, FilterText, FilterTime } from './Filters';
import { useFailures, useRefresh, type Failure } from './queries';
import { RetryButton } from './RetryButton';
import { narrowed, NO_FILTERS, WORK, type TabProps } from './state';
import classes from './Viewer.module.css';

export function Failures({ state, set }: TabProps) {
  const { t } = useTranslation('viewer');
  const failed = useQueueDepth()?.failed ?? 0;
  const refresh = useRefresh();
  useLiveEvents(() => refresh('failures'), ['queue.failed']);
  const chosen = useFailures(state).data?.failures.find(({ id }) => id === state.sel);
  const close = () => set({ sel: null }, { replace: true });
  useShortcuts(chosen ? [{ keys: 'Escape', label: t('failures.detail'), run: close }] : []);
  const setSession = useCallback(
    (typed: string) => set({ session: typed ? Number(typed) : null, sel: null }, { replace: true }),
    [set],
  );
  const setClass = useCallback((name: string) => set({ class: name, sel: null }, { replace: true }), [set]);
  return (
    <>
      <FilterBar exporting={<Exports what="failures" state={state} />}>
        <FilterText label={t('filters.errorClass')} value={state.class} onChange={setClass} />
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
          onChange={(type) => set({ type: WORK.find((each) => each === type) ?? '', sel: null })}
        />
        <FilterTime name="from" state={state} set={set} />
        <FilterTime name="to" state={state} set={set} />
      </FilterBar>
      <FailureClasses state={state} set={set} failed={failed} />
      <SplitView
        leftWidth="minmax(280px, 3fr)"
        chosen={chosen !== undefined}
        sticky
        onBack={close}
        left={<Recent state={state} set={set} />}
        right={chosen ? <FailureDetail failure={chosen} /> : null}
      />
    </>
  );
}

function Recent({ state, set }: TabProps) {
  const { t } = useTranslation('viewer');
  const failures = useFailures(state);
  const filtered = narrowed(state, ['session', 'type', 'class', 'from', 'to']);
  const clear = () => set({ ...NO_FILTERS, sel: null });
  return (
    <Panel
      title={t('failures.recent')}
      state={failures}
      isEmpty={({ total }) => total === 0}
      empty={{ title: t('failures.none'), why: t('failures.noneWhy') }}
      filtered={filtered ? { text: t('filters.noneFailures'), onClear: clear } : undefined}
      degraded={failures.data?.truncated ? t('failures.truncated') : null}
      actions={state.session !== null ? <RetryButton session={state.session} /> : null}
      flush
    >
      {({ total, failures: rows }) => (
        <>
          <Text size="xs" c="dimmed" px={12} py={6}>
            {t('failures.logged', { count: total })}
          </Text>
          <VirtualRows
            rows={rows}
            keyOf={(row) => String(row.id)}
            render={(row) => <Row row={row} />}
            label={t('failures.label')}
            selectedKey={state.sel === null ? null : String(state.sel)}
            onSelect={(row) => set({ sel: row.id }, { replace: state.sel !== null })}
            rowHeight={52}
            height={`min(60vh, 560px, ${rows.length * 52 + 2}px)`}
          />
        </>
      )}
    </Panel>
  );
}

function Row({ row }: { row: Failure }) {
  return (
    <div className={classes['two']}>
      <span className={classes['grow']} title={row.error} dir="auto">
        {row.error}
      </span>
      <span className={classes['second']}>
        <code>{row.errorClass}</code>
        <span>{row.kind}</span>
        <TimeText at={row.atEpoch} />
      </span>
    </div>
  );
}
