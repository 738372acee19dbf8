// Searches that were made, and why each was answered as it was.
import { Group, Text } from '@mantine/core';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { useShortcuts } from '@/app/useShortcuts';
import { localeTag } from '@/i18n';
import { FilterFold } from '@/parts/FilterFold';
import { NewRows } from '@/parts/NewRows';
import { Panel } from '@/parts/Panel';
import { NEWEST } from '@/parts/searchResult';
import { SplitView } from '@/parts/SplitView';
import { VirtualRows } from '@/parts/VirtualRows';
import { durationText } from '@/parts/amounts';
import { Exports, FilterChoice, FilterProject, FilterText, FilterTime } from './Filters';
import { trySearch, useNewerTraces, useTraces, type Trace } from './queries';
import { MODES, narrowed, NO_FILTERS, type TabProps } from './state';
import { TraceDetail } from './TraceDetail';
import { TraceHead, TraceRow } from './TraceRow';
import classes from './Viewer.module.css';

export function Traces({ state, set }: TabProps) {
  const { t } = useTranslation('viewer');
  const { sel } = state;
  const close = () => set({ sel: null }, { replace: true });
  useShortcuts(sel !== null ? [{ keys: 'Escape', label: t('traces.detail'), run: close }] : []);
  const setQuery = (query: string) => set({ query, sel: null }, { replace: true });
  return (
    <>
      <FilterFold
        boxed
        values={[state.mode, state.project, state.from, state.to]}
        lead={
          <FilterText
            label={t('filters.query')}
            hint={t('filters.queryHint')}
            value={state.query}
            onChange={setQuery}
          />
        }
      >
        <FilterChoice
          label={t('filters.mode')}
          value={state.mode}
          options={MODES.map((value) => ({ value, label: t(`traces.mode.${value}`) }))}
          onChange={(mode) => set({ mode: MODES.find((each) => each === mode) ?? '', sel: null })}
        />
        <FilterProject state={state} set={(change) => set({ ...change, sel: null })} />
        <FilterTime name="from" state={state} set={set} />
        <FilterTime name="to" state={state} set={set} />
        <Exports what="traces" state={state} />
      </FilterFold>
      <SplitView
        leftWidth="minmax(260px, 2fr)"
        chosen={sel !== null}
        sticky
        onBack={close}
        left={<TraceList state={state} set={set} />}
        right={sel === null || sel === NEWEST ? null : <TraceDetail id={sel} />}
      />
    </>
  );
}

function TraceList({ state, set }: TabProps) {
  const { t } = useTranslation('viewer');
  const { query, rows, more, restart, hasMore, loadingMore } = useTraces(state);
  const newer = useNewerTraces(state, rows[0]);
  const newest = rows[0]?.id;
  useEffect(() => {
    if (state.sel === NEWEST && newest !== undefined) set({ sel: newest }, { replace: true });
  }, [state.sel, newest, set]);
  const filtered = narrowed(state, ['query', 'mode', 'project', 'from', 'to']);
  const looked = rows.at(-1)?.looked;
  return (
    <Panel
      label={t('traces.label')}
      state={query}
      isEmpty={() => rows.length === 0}
      empty={{ title: t('traces.empty'), why: t('traces.emptyWhy'), command: trySearch() }}
      filtered={filtered ? { text: t('filters.none'), onClear: () => set({ ...NO_FILTERS, sel: null }) } : undefined}
      degraded={looked?.truncated && !hasMore ? t('traces.truncated', { count: looked.scanned }) : null}
      flush
    >
      <div className={classes['table']}>
        <Summary rows={rows} more={hasMore} fresh={newer.data ?? 0} onShow={() => void restart()} />
        <TraceHead />
        <VirtualRows
          rows={rows}
          keyOf={(trace) => String(trace.id)}
          render={(trace) => <TraceRow trace={trace} />}
          label={t('traces.label')}
          selectedKey={state.sel === null ? null : String(state.sel)}
          onSelect={(trace) => set({ sel: trace.id }, { replace: state.sel !== null })}
          onEndReached={more}
          loadingMore={loadingMore}
        />
      </div>
    </Panel>
  );
}

type SummaryProps = { rows: readonly Trace[]; more: boolean; fresh: number; onShow: () => void };

function Summary({ rows, more, fresh, onShow }: SummaryProps) {
  const { t, i18n } = useTranslation('viewer');
  const mean = rows.reduce((sum, trace) => sum + trace.durationMs, 0) / Math.max(1, rows.length);
  const said = { count: rows.length, ms: durationText(mean, i18n.language) };
  const written = { ...said, replace: { count: rows.length.toLocaleString(localeTag(i18n.language)), ms: said.ms } };
  return (
    <Group justify="space-between" px={12} py={6} mih={36} gap="sm">
      <Text size="xs" c="dimmed">
        {more ? t('traces.summaryMore', written) : t('traces.summary', written)}
      </Text>
      <NewRows count={fresh} onShow={onShow} />
    </Group>
  );
}
