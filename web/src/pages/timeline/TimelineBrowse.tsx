// The whole timeline as one list under headings of days, around whatever is chosen.
import { Button } from '@mantine/core';
import { IconArrowBarToUp } from '@tabler/icons-react';
import { memo, useCallback, useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '@/api/client';
import { NewRows } from '@/parts/NewRows';
import { Empty, Panel } from '@/parts/Panel';
import { MemoryPeek } from '@/parts/Peek';
import { VirtualRows } from '@/parts/VirtualRows';
import { usePreferences } from '@/app/preferences';
import { localeTag } from '@/i18n';
import { Beside, LIST_HEIGHT } from './Beside';
import { dayOf, type Item, type MemoryItem } from './days';
import { anchorOf, type Filters, memoryNumber } from './filters';
import { TimelineRow } from './TimelineRow';
import type { Row } from './queries';
import { useTimeline } from './useTimeline';
import classes from './Timeline.module.css';

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

  const rows = useMemo(() => items.flatMap((item) => (item.heading ? [] : [item.row])), [items]);
  const onChoose = useCallback((row: Row | null) => onAnchor(row ? anchorOf(row) : ''), [onAnchor]);
  const gone = origin !== '' && query.error instanceof ApiError && query.error.status === 404;
  return (
    <Beside
      rows={rows}
      chosen={chosen?.row ?? null}
      named={number !== null}
      onChoose={onChoose}
      after={(row) => neighbour(rows, row)}
      list={({ shown, onSelect, onOpen, toggle }) => (
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
              selectedKey={shown?.ref ?? null}
              {...(onSelect ? { onSelect: (item: Item) => !item.heading && onSelect(item.row) } : {})}
              onOpen={(item) => !item.heading && void onOpen(item.row)}
              onEndReached={more}
              onStartReached={before}
              loadingMore={loadingMore}
              peek={(item) => !item.heading && <MemoryPeek reference={item.row.ref} />}
              toggle={{
                labels: toggle.labels,
                run: (item, range) => !item.heading && toggle.run(item.row, range),
                isOn: (item) => !item.heading && toggle.isOn(item.row),
                nameOf: (item) => (item.heading ? '' : toggle.nameOf(item.row)),
              }}
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
export function neighbour(rows: readonly Row[], row: Row): Row | null {
  const at = rows.findIndex((each) => each.seq === row.seq);
  return rows[at + 1] ?? rows[at - 1] ?? null;
}

const DAY_MS = 86_400_000;

/** The day that the rows below belong to. */
const DayHeading = memo(function DayHeading({ at }: { at: number }) {
  const { t, i18n } = useTranslation('timeline');
  const { clock } = usePreferences();
  const format = new Intl.DateTimeFormat(localeTag(i18n.language), {
    dateStyle: 'full',
    ...(clock === 'utc' ? { timeZone: 'UTC' } : {}),
  });
  const [now, day] = [Date.now(), dayOf(at, clock)];
  const near =
    day === dayOf(now, clock) ? t('list.today') : day === dayOf(now - DAY_MS, clock) ? t('list.yesterday') : null;
  return (
    <span className={classes['day']}>
      {near && <strong>{near}</strong>}
      <span>{format.format(at)}</span>
    </span>
  );
});
