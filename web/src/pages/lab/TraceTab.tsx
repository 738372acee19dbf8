// What a run did, step by step: the events as a flat list with the depth of their tasks, and the chosen one beside it.
import '@mantine/core/styles/Switch.layer.css';
import { ActionIcon, Button, Group, SegmentedControl, Switch, Text, Tooltip } from '@mantine/core';
import { IconAlertTriangle, IconArrowBarToDown, IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { memo, useCallback, useDeferredValue, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { useShortcuts } from '@/app/useShortcuts';
import { localeTag } from '@/i18n';
import { SearchInput } from '@/parts/SearchInput';
import { Panel } from '@/parts/Panel';
import { SplitView } from '@/parts/SplitView';
import { VirtualRows } from '@/parts/VirtualRows';
import { EventDetail } from './EventDetail';
import { Hint } from './EvidenceTab';
import { ended, type Run } from '@/api/lab';
import { useTyped } from '@/parts/useTyped';
import { FilterFold } from '@/parts/FilterFold';
import { durationText } from '@/parts/amounts';
import type { RunState, SetRunState } from './runState';
import { SourceDrawer } from './SourceDrawer';
import type { Trace, TraceReader } from './traceReader';
import { barOf, countTypes, type Extent, extentOf, filters, LEVELS, rowsOf, type TraceRow } from './traceView';
import { useTypeName } from './useTypeName';
import classes from './Trace.module.css';

type Props = { reader: TraceReader; run: Run | undefined; runId: string; state: RunState; set: SetRunState };

const ROW = 32;
const nothing: ReadonlySet<string> = new Set();

export function TraceTab({ reader, run, runId, state, set }: Props) {
  const { t, i18n } = useTranslation(['lab', 'common']);
  const typeName = useTypeName();
  const live = run !== undefined && !ended(run);
  const [follow, setFollow] = useState(true);
  const [folded, setFolded] = useState(nothing);
  const [chosen, choose] = useTyped(state.event, (event) => set({ event }, { replace: true }));
  const types = useMemo(() => new Set(state.type.split(',').filter(Boolean)), [state.type]);
  const search = useDeferredValue(state.q);
  const filter = useMemo(
    () => ({ types, failed: state.failed, search, level: state.level, folded }),
    [types, state.failed, search, state.level, folded],
  );
  const [wanted, setWanted] = useState(false);
  const trace = useTrace(reader);
  const { events } = trace;
  const missing = useMemo(() => chosen !== '' && !events.some((event) => event.event_id === chosen), [events, chosen]);
  const whole = wanted || filters(filter) || missing;
  useReading(reader, { live, whole });
  const rows = useMemo(() => rowsOf(events, filter), [events, filter]);
  const counts = useMemo(() => countTypes(events), [events]);
  const from = run?.started_at ?? null;
  const to = run?.ended_at ?? null;
  const extent = useMemo(() => extentOf({ started_at: from, ended_at: to }, events), [from, to, events]);
  const onFold = useCallback((task: string) => {
    setFolded((before) => {
      const next = new Set(before);
      if (!next.delete(task)) next.add(task);
      return next;
    });
  }, []);
  const more = useCallback(() => void reader.next(), [reader]);
  const close = useCallback(() => choose(''), [choose]);
  const cite = useCallback((name: string) => set({ alias: name }), [set]);
  const foldChosen = () => {
    const { task = null, parent_task: above = null } = rows.find((row) => row.event.event_id === chosen)?.event ?? {};
    if (task === null || above === null) return;
    onFold(task);
    const head = rows.find((row) => row.opens === task);
    if (head) choose(head.event.event_id);
  };
  useShortcuts(
    chosen
      ? [
          { keys: 'Escape', label: t('common:close'), run: close },
          { keys: 'f', label: t('trace.foldKey'), run: foldChosen },
        ]
      : [],
  );

  const number = (value: number) => value.toLocaleString(localeTag(i18n.language));
  const reading = {
    isPending: trace.more && !events.length && trace.error === null,
    isError: trace.error !== null,
    error: trace.error,
    data: events.length || !trace.more ? events : undefined,
    refetch: () => reader.readTo(whole ? Infinity : events.length + 1),
  };
  const conditions = [
    ...[...types].map(typeName),
    ...(state.failed ? [t('trace.failedOnly')] : []),
    ...(search ? [search] : []),
  ];
  return (
    <>
      <TraceFilters counts={counts} chosen={types} state={state} set={set} />
      <SplitView
        chosen={chosen !== ''}
        onBack={close}
        leftWidth="minmax(420px, 4fr)"
        left={
          <Panel
            title={t('trace.title')}
            flush
            state={reading}
            isEmpty={() => !rows.length && !trace.reading}
            empty={{ title: t('trace.empty'), why: live ? t('trace.emptyWhy') : t('trace.emptyEnded') }}
            filtered={
              conditions.length && events.length
                ? {
                    text: t('trace.filteredEmpty', { filter: conditions.join(', ') }),
                    onClear: () => set({ type: '', failed: false, q: '' }),
                  }
                : undefined
            }
            actions={
              <Group gap="sm">
                <Text size="xs" c="dimmed" role="status">
                  {trace.reading && events.length >= 1_000
                    ? t('trace.reading', { n: number(events.length) })
                    : trace.more && events.length
                      ? t('trace.eventsMore', { n: number(events.length) })
                      : rows.length < events.length
                        ? t('trace.shown', { shown: number(rows.length), n: number(events.length) })
                        : t('trace.events', { count: events.length, n: number(events.length) })}
                </Text>
                {live ? (
                  <Tooltip label={t('trace.followHint')}>
                    <Switch
                      label={t('trace.follow')}
                      checked={follow}
                      onChange={(event) => setFollow(event.currentTarget.checked)}
                    />
                  </Tooltip>
                ) : (
                  trace.more && (
                    <Button
                      variant="default"
                      size="compact-xs"
                      leftSection={<IconArrowBarToDown size={12} />}
                      onClick={() => setWanted(true)}
                    >
                      {t('trace.toEnd')}
                    </Button>
                  )
                )}
              </Group>
            }
          >
            <VirtualRows<TraceRow>
              rows={rows}
              keyOf={(row) => row.event.event_id}
              label={t('trace.title')}
              selectedKey={chosen || null}
              onSelect={(row) => choose(row.event.event_id)}
              onEndReached={trace.more ? more : undefined}
              loadingMore={trace.reading}
              rowHeight={ROW}
              height="65vh"
              stick={(live && follow && !chosen) || wanted}
              render={(row) => (
                <TraceLine
                  row={row}
                  extent={extent}
                  folded={row.opens !== null && folded.has(row.opens)}
                  onFold={onFold}
                />
              )}
            />
          </Panel>
        }
        right={
          chosen ? (
            <EventDetail runId={runId} eventId={chosen} onCite={cite} />
          ) : (
            <Hint text={t('trace.choose')} more={t('trace.chooseHint')} />
          )
        }
      />
      <SourceDrawer runId={runId} name={state.alias} onClose={() => set({ alias: '' })} />
    </>
  );
}

type TraceFiltersProps = {
  counts: readonly (readonly [string, number])[];
  chosen: ReadonlySet<string>;
  state: RunState;
  set: SetRunState;
};

/** What of a trace is shown: how important, which types, failures only, words. */
function TraceFilters({ counts, chosen, state, set }: TraceFiltersProps) {
  const { t, i18n } = useTranslation('lab');
  const typeName = useTypeName();
  // A type from the address is shown also where no event of it has come yet.
  const absent = [...chosen].filter((type) => !counts.some(([each]) => each === type));
  const listed = [...counts, ...absent.map((type) => [type, 0] as const)];
  const toggle = (type: string) => {
    const next = new Set(chosen);
    if (!next.delete(type)) next.add(type);
    set({ type: [...next].sort().join(',') });
  };
  return (
    <div className={classes['filters']}>
      <FilterFold
        values={[state.level !== 'steps', state.failed, ...chosen]}
        lead={
          <SearchInput
            label={t('trace.search')}
            w={200}
            value={state.q}
            onChange={(q) => set({ q }, { replace: true })}
          />
        }
      >
        <SegmentedControl
          aria-label={t('trace.level')}
          value={state.level}
          onChange={(level) => set({ level: LEVELS.find((each) => each === level) ?? 'steps' })}
          data={LEVELS.map((level) => ({ value: level, label: t(`trace.levels.${level}`) }))}
        />
        <Switch
          label={t('trace.failedOnly')}
          checked={state.failed}
          onChange={(event) => set({ failed: event.currentTarget.checked })}
        />
        <Group gap={4} role="group" aria-label={t('trace.types')} className={classes['types']}>
          {listed.map(([type, count]) => (
            <Button
              key={type}
              size="compact-xs"
              variant={chosen.has(type) ? 'filled' : 'default'}
              className={classes['chip']}
              aria-pressed={chosen.has(type)}
              title={type}
              onClick={() => toggle(type)}
            >
              {typeName(type)}
              <span className={classes['count']}>{count.toLocaleString(localeTag(i18n.language))}</span>
            </Button>
          ))}
        </Group>
      </FilterFold>
    </div>
  );
}

type TraceLineProps = { row: TraceRow; extent: Extent; folded: boolean; onFold: (task: string) => void };

const INDENT = 16; // pixels per level
const DEEPEST = 8;
// Their short line names the task they are part of, which its first row says already.
const WITHIN_TASK = new Set(['llm_request', 'llm_response', 'recap_info']);

/**
 * One event in the trace: when it began, how deep its task lies, what it is about, how long it took and when that was.
 */
const TraceLine = memo(function TraceLine({ row, extent, folded, onFold }: TraceLineProps) {
  const { t, i18n } = useTranslation('lab');
  const typeName = useTypeName();
  const { event, tier, depth, opens, speaks } = row;
  const bar = barOf(event, extent);
  const since = Math.max(0, event.started_at - extent.from).toLocaleString(localeTag(i18n.language), {
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  });
  const agent = event.agent ?? '';
  const label = WITHIN_TASK.has(event.event_type) && opens === null && !event.failed ? null : event.label;
  return (
    <div className={classes['line']} data-tier={tier} data-failed={event.failed || undefined}>
      <span className={classes['since']} title={t('trace.offset', { seconds: since })}>
        {since}
      </span>
      <span className={classes['what']} style={{ paddingInlineStart: Math.min(depth, DEEPEST) * INDENT }}>
        {opens !== null && (
          <ActionIcon
            size={24}
            className={classes['fold']}
            tabIndex={-1}
            aria-expanded={!folded}
            aria-label={t(folded ? 'trace.unfold' : 'trace.fold', { agent })}
            onClick={(click) => {
              click.stopPropagation();
              onFold(opens);
            }}
          >
            {folded ? <IconChevronRight size={14} /> : <IconChevronDown size={14} />}
          </ActionIcon>
        )}
        {event.failed && (
          <IconAlertTriangle
            size={14}
            role="img"
            aria-label={t('trace.failed')}
            className={`${classes['warning']} fixed`}
          />
        )}
        <span className={`${classes['type']} fixed`}>{typeName(event.event_type)}</span>
        {speaks && <span className={classes['agent']}>{agent}</span>}
        {label && <span className={classes['label']}>{label}</span>}
      </span>
      <span className={classes['took']}>
        {event.duration_ms !== null && durationText(event.duration_ms, i18n.language)}
      </span>
      <span className={classes['time']} aria-hidden>
        <span
          className={classes['mark']}
          data-span={bar.width > 0 || undefined}
          style={{ insetInlineStart: `min(${bar.start * 100}%, calc(100% - 2px))`, width: `${bar.width * 100}%` }}
        />
      </span>
    </div>
  );
});

const FIRST = 2_000; // events that are read without being asked for
const FOLLOW_MS = 700;

/** What has been read so far. */
function useTrace(reader: TraceReader): Trace {
  return useSyncExternalStore(reader.subscribe, reader.current);
}

type Wish = {
  /** The run has not ended: look again and again. */
  live: boolean;
  /** A filter, a search or an event in the address needs everything there is. */
  whole: boolean;
};

/** Reads while somebody looks, as far as is wished. */
function useReading(reader: TraceReader, { live, whole }: Wish) {
  useEffect(() => {
    void reader.readTo(FIRST);
    return () => reader.pause();
  }, [reader]);
  useEffect(() => {
    if (!whole) return;
    void reader.readTo(Infinity);
    return () => reader.enough(FIRST);
  }, [reader, whole]);
  const wasLive = useRef(false);
  useEffect(() => {
    // Its last events were written when it ended, perhaps after the last look.
    if (!live && wasLive.current) void reader.follow();
    wasLive.current = live;
    if (!live) return;
    let timer: ReturnType<typeof setTimeout>;
    let over = false;
    const look = async () => {
      await reader.follow();
      if (!over) timer = setTimeout(() => void look(), FOLLOW_MS);
    };
    void look();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [reader, live]);
}
