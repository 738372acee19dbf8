// What a run did, step by step: the events as a flat list with the depth of their tasks, and the chosen one beside it.
import { Button, Group, Switch, Text, Tooltip } from '@mantine/core';
import { IconArrowBarToDown } from '@tabler/icons-react';
import { useCallback, useDeferredValue, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useShortcuts } from '@/app/useShortcuts';
import { localeTag } from '@/i18n';
import { Panel } from '@/parts/Panel';
import { SplitView } from '@/parts/SplitView';
import { VirtualRows } from '@/parts/VirtualRows';
import { EventDetail } from './EventDetail';
import { Hint } from './EvidenceTab';
import { ended, type Run } from '@/api/lab';
import type { RunState, SetRunState } from './runState';
import { SourceDrawer } from './SourceDrawer';
import { TraceFilters } from './TraceFilters';
import { TraceLine } from './TraceLine';
import type { TraceReader } from './traceReader';
import { countTypes, extentOf, filters, rowsOf, type TraceRow } from './traceView';
import { useChosen } from './useChosen';
import { useReading, useTrace } from './useTrace';
import { useTypeName } from './useTypeName';

type Props = { reader: TraceReader; run: Run | undefined; runId: string; state: RunState; set: SetRunState };

const ROW = 32;
const nothing: ReadonlySet<string> = new Set();

export function TraceTab({ reader, run, runId, state, set }: Props) {
  const { t, i18n } = useTranslation(['lab', 'common']);
  const typeName = useTypeName();
  const live = run !== undefined && !ended(run);
  const [follow, setFollow] = useState(true);
  const [folded, setFolded] = useState(nothing);
  const [chosen, choose] = useChosen(state.event, (event) => set({ event }, { replace: true }));
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
              height={`min(65vh, ${Math.max(rows.length, 1) * ROW - 1}px)`}
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
