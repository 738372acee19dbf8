// The whole timeline as one list under headings of days, around whatever is chosen.
import { Button } from '@mantine/core';
import { IconArrowBarToUp } from '@tabler/icons-react';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '@/api/client';
import { NewRows } from '@/parts/NewRows';
import { Empty, Panel } from '@/parts/Panel';
import { VirtualRows } from '@/parts/VirtualRows';
import { Beside, LIST_HEIGHT } from './Beside';
import { DayHeading } from './DayHeading';
import type { Item, MemoryItem } from './days';
import { memoryNumber, type Filters } from './filters';
import { TimelineRow } from './TimelineRow';
import type { Row } from './queries';
import { useTimeline } from './useTimeline';

type Props = {
  filters: Filters;
  anchor: string;
  onAnchor: (anchor: string) => void;
  filtered: { text: string; onClear: () => void } | undefined;
};

const ROW = 52;
const PROMPT = '{"session_id":"first","cwd":"/home/me/demo","prompt":"Hello"}';
export const TRY = `echo '${PROMPT}' | codexmem hook raw session-init`;

const isHeading = (item: Item) => item.heading;
const keyOf = (item: Item) => item.key;

export function TimelineBrowse({ filters, anchor, onAnchor, filtered }: Props) {
  const { t } = useTranslation('timeline');
  const [origin, setOrigin] = useState(anchor);
  const [started, setStarted] = useState(0); // how often the list was begun anew
  const { query, items, more, before, atHead, fresh, showNewest, loadingMore } = useTimeline(filters, origin);
  const number = memoryNumber(anchor);
  const chosen = useMemo(
    () => items.find((item): item is MemoryItem => !item.heading && item.row.seq === number),
    [items, number],
  );

  // A memory that is not in the list (a link, the way back) is where the list begins next; one only chosen is not.
  const loaded = query.data !== undefined;
  useEffect(() => {
    if (!anchor || (loaded && !chosen && number !== null) || number === null) setOrigin(anchor);
  }, [anchor, loaded, chosen, number]);

  const onNewest = useCallback(() => {
    showNewest();
    onAnchor('');
    setOrigin('');
    setStarted((times) => times + 1);
  }, [showNewest, onAnchor]);
  // An empty list has no place to lose.
  useEffect(() => {
    if (fresh && !items.length) onNewest();
  }, [fresh, items.length, onNewest]);

  const onChoose = useCallback((row: Row | null) => onAnchor(row?.ref ?? ''), [onAnchor]);
  const gone = origin !== '' && query.error instanceof ApiError && query.error.status === 404;
  return (
    <Beside
      chosen={chosen?.row ?? null}
      onChoose={onChoose}
      after={(row) => neighbour(items, row)}
      list={({ onSelect, onOpen }) => (
        <Panel
          title={t('list.captured')}
          {...(gone ? {} : { state: query })}
          isEmpty={() => items.length === 0}
          empty={{ title: t('list.emptyTitle'), why: t('list.emptyWhy'), command: TRY }}
          filtered={filtered}
          flush
          actions={
            <>
              <NewRows count={fresh} onShow={onNewest} />
              {(!atHead || gone) && (
                <Button
                  size="compact-xs"
                  variant="default"
                  leftSection={<IconArrowBarToUp size={12} />}
                  onClick={onNewest}
                >
                  {t('list.newest')}
                </Button>
              )}
            </>
          }
        >
          {gone ? (
            <Empty title={t('list.gone', { anchor: origin })} why={t('list.goneWhy')} />
          ) : (
            <VirtualRows
              key={`${started} ${origin} ${Object.values(filters).join(' ')}`}
              label={t('list.label')}
              rows={items}
              keyOf={keyOf}
              isHeading={isHeading}
              rowHeight={ROW}
              height={LIST_HEIGHT}
              selectedKey={chosen?.key ?? null}
              {...(onSelect ? { onSelect: (item: Item) => !item.heading && onSelect(item.row) } : {})}
              onOpen={(item) => !item.heading && void onOpen(item.row)}
              onEndReached={more}
              onStartReached={before}
              loadingMore={loadingMore}
              render={(item) =>
                item.heading ? (
                  <DayHeading at={item.at} />
                ) : (
                  <TimelineRow row={item.row} begins={item.begins} ends={item.ends} />
                )
              }
            />
          )}
        </Panel>
      )}
    />
  );
}

/** The row below, or the one above at the end. */
function neighbour(items: readonly Item[], row: Row): Row | null {
  const rows = items.flatMap((item) => (item.heading ? [] : [item.row]));
  const at = rows.findIndex((each) => each.seq === row.seq);
  return rows[at + 1] ?? rows[at - 1] ?? null;
}
