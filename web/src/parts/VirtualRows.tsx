// A list of any length with a few rows in the page. j, k and the arrows move and load, Enter opens. One row has the
// focus at a time; it stays in the page while others come and go, so that the focus is never lost.
import { Checkbox, Loader } from '@mantine/core';
import { defaultRangeExtractor, useVirtualizer, type Range } from '@tanstack/react-virtual';
import {
  lazy,
  Suspense,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
} from 'react';
import { useTranslation } from 'react-i18next';
import { preferences, usePreferences } from '@/app/preferences';
import { useShortcuts } from '@/app/useShortcuts';
import { useHeadings, useStayInPlace } from './rowHeadings';
import classes from './VirtualRows.module.css';

const Peek = lazy(() => import('./Peek').then((module) => ({ default: module.Peek })));

type Props<T> = {
  rows: readonly T[];
  keyOf: (row: T) => string;
  render: (row: T, index: number) => ReactNode;
  /** The name of the list for assistive technology. */
  label: string;
  selectedKey?: string | null;
  /** The row that the reader moved to: show its detail. */
  onSelect?: (row: T) => void;
  /** Enter, or a click where there is no onSelect: go to the row's own page. */
  onOpen?: (row: T) => void;
  onEndReached?: () => void;
  loadingMore?: boolean;
  /** How many rows there are in all, where that is known and more than are loaded. */
  total?: number;
  /** The height where there is room; the chosen density decides how much of it is used. */
  rowHeight?: number;
  /** Rows differ in height and are measured; rowHeight is then the guess. */
  measured?: boolean;
  height?: number | string;
  /** Whether j and k move in this list; set false in all lists of a page but one. */
  keys?: boolean;
  /** Rows come at the end while the reader looks: the end stays in view until the reader scrolls away from it. */
  stick?: boolean;
  /** Rows that only head those below: keys pass over them, and the last one passed stays in view. */
  isHeading?: (row: T) => boolean;
  headingHeight?: number;
  /** Rows have a box. x selects the row that the reader is at, or no longer; with shift, all from the last one on. */
  toggle?: Toggle<T> | undefined;
  /** Space shows this of the row that the reader is at, over the list. */
  peek?: ((row: T) => ReactNode) | undefined;
  /** The reader scrolled up to the first rows: load what comes before them. What is in view stays where it is. */
  onStartReached?: () => void;
};

export type Toggle<T> = {
  labels: Record<'x' | 'X', string>;
  run: (row: T, range: boolean) => void;
  isOn: (row: T) => boolean;
  /** What the box of a row is called. */
  nameOf: (row: T) => string;
};

const AHEAD = 20; // rows before the end at which the next page is asked for
const OVERSCAN = 8;
const COMPACT = 0.76; // of the usual height
const LEAST = 24; // so much a finger needs

/** How high the rows of a list are in the chosen density. */
export function useRowHeight(comfortable = 40): number {
  const { density } = usePreferences();
  return density === 'compact' ? Math.max(LEAST, Math.round(comfortable * COMPACT)) : comfortable;
}

export function VirtualRows<T>(props: Props<T>) {
  const { rows, keyOf, render, label, selectedKey, onSelect, onOpen, onEndReached, loadingMore } = props;
  const { total, measured = false, height = 'min(70vh, 720px)', keys = true, stick = false } = props;
  const { isHeading, headingHeight = 28, onStartReached, toggle, peek } = props;
  const { t } = useTranslation(['common', 'shell']);
  const rowHeight = useRowHeight(props.rowHeight);
  const box = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState(0);
  const [peeking, setPeeking] = useState(false);
  const name = useRef(keyOf);
  name.current = keyOf;
  const chosen = useMemo(
    () => (selectedKey ? rows.findIndex((row) => name.current(row) === selectedKey) : -1),
    [rows, selectedKey],
  );
  const headings = useHeadings(rows, isHeading);
  const active = headings.passing(Math.min(chosen >= 0 ? chosen : at, Math.max(rows.length - 1, 0)), 1);

  const sticky = useRef(-1);
  const rangeExtractor = useCallback(
    (range: Range) => {
      sticky.current = headings.above(range.startIndex);
      const kept = [active, sticky.current].filter((index) => index >= 0 && index < range.count);
      return [...new Set([...defaultRangeExtractor(range), ...kept])].sort((a, b) => a - b);
    },
    [active, headings],
  );
  // Another function would mean other rows, and every place would be computed anew.
  const getItemKey = useCallback((index: number) => name.current(rows[index] as T), [rows]);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => (headings.has(index) ? headingHeight : rowHeight),
    getItemKey,
    overscan: OVERSCAN,
    rangeExtractor,
    scrollPaddingStart: isHeading ? headingHeight : 0,
    useFlushSync: false,
  });
  useEffect(() => list.measure(), [list, rowHeight]);

  const items = list.getVirtualItems();
  const last = list.range?.endIndex ?? 0;
  useEffect(() => {
    if (rows.length && last >= rows.length - AHEAD) onEndReached?.();
  }, [last, rows.length, onEndReached]);

  const beginning = list.scrollDirection === 'backward' && (list.range?.startIndex ?? AHEAD) < AHEAD;
  const startReached = useRef(onStartReached);
  startReached.current = onStartReached;
  // Asked for by scrolling only: rows that came before do not ask for those before them.
  useEffect(() => {
    if (beginning) startReached.current?.();
  }, [beginning, list.scrollOffset]);
  // A list that loads nothing before its first row shows new rows there to whoever looks at its beginning.
  useStayInPlace(rows, keyOf, list, (index) => list.measurementsCache[index]?.start ?? 0, onStartReached !== undefined);

  const atEnd = useRef(true);
  useEffect(() => {
    if (stick) atEnd.current = true;
  }, [stick]);
  useEffect(() => {
    if (stick && atEnd.current && rows.length) list.scrollToIndex(rows.length - 1, { align: 'end' });
  }, [stick, rows.length, list]);

  // By its place where that is certain: a number means another row as soon as rows are put before it.
  function bring(index: number, align: 'auto' | 'center') {
    const place = measured ? undefined : list.getOffsetForIndex(index, align);
    if (place) list.scrollToOffset(place[0]);
    else list.scrollToIndex(index, { align });
  }
  const brought = useRef(bring);
  brought.current = bring;

  // A selection that came from the address is brought into view once it is loaded.
  const scrolledTo = useRef<string | null>(null);
  useEffect(() => {
    if (chosen < 0 || scrolledTo.current === selectedKey) return;
    const align = scrolledTo.current === null ? 'center' : 'auto';
    scrolledTo.current = selectedKey ?? null;
    brought.current(chosen, align);
  }, [chosen, selectedKey]);

  function move(to: number) {
    const index = headings.passing(Math.max(0, Math.min(to, rows.length - 1)), to < active ? -1 : 1);
    const row = rows[index];
    if (row === undefined || headings.has(index)) return;
    setAt(index);
    bring(index, 'auto');
    scrolledTo.current = keyOf(row);
    onSelect?.(row);
    if (!peeking) takeFocus(row); // else the look over the list keeps it
  }

  function takeFocus(row: T) {
    const focus = () => {
      const element = box.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(keyOf(row))}"]`);
      element?.focus({ preventScroll: true });
    };
    // At once, for whoever types Enter right after; and again, because the row may enter the page only with the next
    // frame, and have another number by then.
    focus();
    requestAnimationFrame(focus);
  }

  const begun = chosen >= 0 || box.current?.contains(document.activeElement);
  useShortcuts(
    keys && rows.length
      ? [
          { keys: 'j', label: t('shell:shortcuts.next'), group: 'lists', run: () => move(begun ? active + 1 : active) },
          { keys: 'k', label: t('shell:shortcuts.previous'), group: 'lists', run: () => move(active - 1) },
          ...(peek ? [{ keys: ' ', label: t('peek.key'), group: 'lists' as const, run: () => setPeeking(true) }] : []),
          ...(toggle
            ? (['x', 'X'] as const).map((pressed) => ({
                keys: pressed,
                label: toggle.labels[pressed],
                group: 'lists' as const,
                run: () => toggle.run(rows[active] as T, pressed === 'X'),
              }))
            : []),
        ]
      : [],
  );

  function onKeyDown(event: KeyboardEvent) {
    // Keys inside a row's own buttons and links are theirs.
    if (!(event.target instanceof HTMLElement) || event.target.getAttribute('role') !== 'row') return;
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? rowHeight) / rowHeight) - 1);
    const steps: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: rows.length - 1,
    };
    const row = rows[active];
    if (event.key in steps) move(steps[event.key] ?? 0);
    else if (event.key === 'Enter' && row !== undefined) (onOpen ?? onSelect)?.(row);
    else if (event.key === ' ' && peek && preferences().singleKeys) setPeeking(true);
    else return;
    event.preventDefault();
  }
  const peeked = peeking ? rows[active] : undefined;

  return (
    <div className={classes['frame']}>
      <div
        ref={box}
        role="grid"
        aria-label={label}
        aria-rowcount={total ?? (onEndReached && loadingMore ? -1 : rows.length)}
        className={classes['box']}
        // Never higher than its rows; the last one's line is the panel's.
        style={{ height, maxHeight: list.getTotalSize() - 1 }}
        onKeyDown={onKeyDown}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          atEnd.current = scrollHeight - scrollTop - clientHeight < rowHeight;
        }}
      >
        <div role="presentation" style={{ height: list.getTotalSize(), position: 'relative' }}>
          {items.map(({ index, key, start, size }) => {
            const row = rows[index] as T;
            const selected = index === chosen;
            if (headings.has(index)) {
              const stays = index === sticky.current;
              return (
                <div
                  key={key}
                  role="row"
                  aria-rowindex={index + 1}
                  className={classes['heading']}
                  data-sticky={stays || undefined}
                  style={{ height: size, ...(stays ? {} : { transform: `translateY(${start}px)` }) }}
                >
                  <div role="gridcell" className={classes['cell']}>
                    {render(row, index)}
                  </div>
                </div>
              );
            }
            return (
              <div
                key={key}
                ref={measured ? list.measureElement : undefined}
                data-index={index}
                data-key={key}
                role="row"
                aria-rowindex={index + 1}
                aria-selected={onSelect ? selected : undefined}
                tabIndex={index === active ? 0 : -1}
                className={`${classes['row']} choosable`}
                data-open={onSelect || onOpen ? true : undefined}
                style={{
                  transform: `translateY(${start}px)`,
                  ...(measured ? { minHeight: rowHeight } : { height: size }),
                }}
                onClick={() => {
                  setAt(index);
                  scrolledTo.current = keyOf(row);
                  (onSelect ?? onOpen)?.(row);
                }}
                onFocus={() => setAt(index)}
                onDoubleClick={() => onOpen?.(row)}
              >
                <div role="gridcell" className={classes['cell']}>
                  {toggle && <RowBox row={row} toggle={toggle} />}
                  {render(row, index)}
                </div>
              </div>
            );
          })}
        </div>
      </div>
      {peek && peeked !== undefined && (
        <Suspense>
          <Peek
            onClose={() => {
              setPeeking(false);
              takeFocus(peeked);
            }}
            onMove={(step) => move(active + step)}
            onOpen={() => (onOpen ?? onSelect)?.(peeked)}
          >
            {peek(peeked)}
          </Peek>
        </Suspense>
      )}
      {loadingMore && (
        <div className={classes['more']} role="status">
          <Loader size={12} aria-hidden />
          <span>{t('loadingMore')}</span>
        </div>
      )}
    </div>
  );
}

function RowBox<T>({ row, toggle }: { row: T; toggle: Toggle<T> }) {
  return (
    <span
      className={classes['select']}
      onClick={(event) => event.stopPropagation()}
      onDoubleClick={(event) => event.stopPropagation()}
    >
      <Checkbox
        size="xs"
        aria-label={toggle.nameOf(row)}
        checked={toggle.isOn(row)}
        tabIndex={-1}
        onChange={(event) => toggle.run(row, (event.nativeEvent as MouseEvent).shiftKey)}
      />
    </span>
  );
}
