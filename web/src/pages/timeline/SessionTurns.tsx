// The turns of a session as one list, with the chosen line beside it.
import '@mantine/core/styles/Switch.layer.css';
import { Switch } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { usePages } from '@/api/queries';
import { flag, text, useSearchState } from '@/app/searchState';
import { useFreshCount } from '@/live/useLive';
import { NewRows } from '@/parts/NewRows';
import { Panel } from '@/parts/Panel';
import { SplitView } from '@/parts/SplitView';
import { VirtualRows } from '@/parts/VirtualRows';
import { turns as askTurns, type Session, type Turn } from './queries';
import { SessionDetail } from './SessionDetail';
import { SessionItemLine } from './SessionItemLine';
import { itemsOfSession, merged, type SessionItem } from './sessionItems';

const SCHEMA = { sel: text(), events: flag() };
const ROW = 36;
const LOOKED_THROUGH = 40; // pages, for a line that an address names

export function SessionTurns({ session }: { session: Session }) {
  const { t } = useTranslation('timeline');
  const { number } = session;
  const client = useQueryClient();
  const navigate = useNavigate();
  const [{ sel, events }, set] = useSearchState(SCHEMA);
  const list = usePages(['timeline', 'turns', number], (cursor) => askTurns(number, cursor));
  const { query, rows, more, restart, hasMore, loadingMore } = list;
  const [toggled, setToggled] = useState<ReadonlySet<number>>(new Set());
  const turns = useMemo(() => merged(rows), [rows]);
  const isOpen = useCallback(
    (turn: Turn) => events !== toggled.has(turn.turn) || turn.events.some((event) => sel === `e${event.seq}`),
    [events, toggled, sel],
  );
  const items = useMemo(() => itemsOfSession(turns, isOpen), [turns, isOpen]);
  const chosen = items.find((item) => item.key === sel) ?? null;
  const shown = chosen ?? (sel ? null : (items[0] ?? null)); // the first one until there is a choice

  // A line that a link names may be further down than what is loaded.
  const pages = query.data?.pages.length ?? 0;
  useEffect(() => {
    if (sel && !chosen && hasMore && pages < LOOKED_THROUGH) more();
  }, [sel, chosen, hasMore, pages, more]);

  const { fresh, clear } = useFreshCount(({ payload }) => (payload as { sessionDbId?: number }).sessionDbId === number);
  const onToggle = useCallback(
    (turn: Turn) => {
      setToggled((before) => {
        const after = new Set(before);
        if (!after.delete(turn.turn)) after.add(turn.turn);
        return after;
      });
      // Folding a turn away takes the choice with it.
      if (turn.events.some((event) => sel === `e${event.seq}`)) set({ sel: `g${turn.turn}` }, { replace: true });
    },
    [sel, set],
  );
  function onOpen(item: SessionItem) {
    if (item.kind === 'events') onToggle(item.turn);
    else if (item.kind === 'memory')
      void navigate({ to: '/ui/memories/$ref', params: { ref: String(item.memory.seq) } });
  }
  return (
    <SplitView
      chosen={chosen !== null}
      onBack={() => set({ sel: '' }, { replace: true })}
      leftWidth="minmax(0, 3fr)"
      left={
        <Panel
          title={t('sessionPage.turns')}
          state={query}
          isEmpty={() => items.length === 0}
          empty={{ title: t('sessionPage.emptyTitle'), why: t('sessionPage.emptyWhy') }}
          flush
          actions={
            <>
              <NewRows
                count={fresh}
                onShow={() => {
                  clear();
                  void restart();
                  void client.invalidateQueries({ queryKey: ['timeline', 'session', number] });
                }}
              />
              <Switch
                label={t('sessionPage.showEvents')}
                checked={events}
                onChange={(event) => {
                  setToggled(new Set());
                  set({ events: event.currentTarget.checked });
                }}
              />
            </>
          }
        >
          <VirtualRows
            label={t('sessionPage.list')}
            rows={items}
            keyOf={(item) => item.key}
            rowHeight={ROW}
            height="max(320px, calc(100dvh - 330px))"
            selectedKey={shown?.key ?? null}
            onSelect={(item) => set({ sel: item.key }, { replace: true })}
            onOpen={onOpen}
            onEndReached={more}
            loadingMore={loadingMore}
            render={(item) => <SessionItemLine item={item} onToggle={onToggle} />}
          />
        </Panel>
      }
      right={<SessionDetail session={number} item={shown} onToggle={onToggle} />}
    />
  );
}
