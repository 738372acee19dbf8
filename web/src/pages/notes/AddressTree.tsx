// All addresses as a tree: branches are asked for when they are opened, a few rows are in the page at a time, and the
// keyboard walks it as it walks any tree.
import { ActionIcon, Badge, Loader } from '@mantine/core';
import {
  IconAlertCircle,
  IconChevronDown,
  IconChevronRight,
  IconCornerDownRight,
  IconEye,
  IconFileText,
  IconFolder,
} from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { defaultRangeExtractor, useVirtualizer, type Range } from '@tanstack/react-virtual';
import { useCallback, useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { memoryPage } from '@/parts/reference';
import { useRowHeight } from '@/parts/VirtualRows';
import { above, domainOf } from './addresses';
import { PriorityBadge } from '@/parts/PriorityBadge';
import { step, treeRows, typed, type TreeRow } from './treeRows';
import { useBranches } from './useBranches';
import classes from './AddressTree.module.css';

type Props = {
  /** The address that the page shows; what lies above it is opened. */
  current?: string | null;
  /** A domain was chosen; without this it is opened or closed. */
  onDomain?: (domain: string) => void;
};

const ROW = 28;
const TYPING_MS = 700;
const LETTER = /^[\p{L}\p{N}_.-]$/u;

export function AddressTree({ current = null, onDomain }: Props) {
  const { t } = useTranslation(['notes', 'common']);
  const navigate = useNavigate();
  const { open, branches, load, more, expand, collapse } = useBranches();
  const rows = useMemo(() => treeRows(branches, open), [branches, open]);
  const rowHeight = useRowHeight(ROW);
  const box = useRef<HTMLDivElement>(null);
  const [activeKey, setActiveKey] = useState<string | null>(null);
  const typing = useRef({ text: '', at: 0 });
  const found = rows.findIndex((row) => row.key === (activeKey ?? current));
  const active = Math.max(found, 0);
  const held = useRef<number | null>(null); // which row has the focus, if one has

  useEffect(() => {
    if (current) expand(current.endsWith('://') ? [current] : above(current));
    setActiveKey(null);
  }, [current, expand]);

  const rangeExtractor = useCallback(
    (range: Range) => {
      const shown = defaultRangeExtractor(range);
      return active >= range.count || shown.includes(active) ? shown : [...shown, active].sort((a, b) => a - b);
    },
    [active],
  );
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 8,
    rangeExtractor,
    useFlushSync: false,
  });
  useEffect(() => list.measure(), [list, rowHeight]);

  // The current address is brought into view once it is there.
  const shown = useRef<string | null>(null);
  useEffect(() => {
    const index = rows.findIndex((row) => row.key === current);
    if (index < 0 || shown.current === current) return;
    shown.current = current;
    list.scrollToIndex(index, { align: 'auto' });
  }, [rows, current, list]);

  function moveTo(index: number) {
    const row = rows[index];
    if (!row) return;
    setActiveKey(row.key);
    list.scrollToIndex(index, { align: 'auto' });
    requestAnimationFrame(() => {
      box.current?.querySelector<HTMLElement>(`[data-index="${index}"]`)?.focus({ preventScroll: true });
    });
  }

  // A row that goes (its branch has arrived, or somebody deleted it) hands the focus to the one in its place.
  useEffect(() => {
    if (held.current === null) return;
    if (found >= 0) held.current = found;
    else if (document.activeElement === document.body) moveTo(Math.min(held.current, rows.length - 1));
  });

  function toggle(row: TreeRow) {
    if (row.expanded) collapse(row.uri);
    else expand([row.uri]);
  }

  function activate(row: TreeRow) {
    const page = memoryPage(row.uri);
    if (row.kind === 'more') void more(row.uri);
    else if (row.kind === 'failed') void load(row.uri);
    else if (row.level === 1 && row.kind === 'place') choose(row);
    else if ((row.kind === 'view' || row.place?.seq) && page) void navigate({ to: page });
    else if (row.expanded !== null) toggle(row);
  }

  function choose(row: TreeRow) {
    if (!onDomain) return toggle(row);
    if (!row.expanded) expand([row.uri]);
    onDomain(domainOf(row.uri));
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows[active];
    if (!row) return;
    const next = step(rows, active, event.key);
    if (next === 'open' || next === 'close') toggle(row);
    else if (next !== null) moveTo(next);
    else if (event.key === 'Enter' || event.key === ' ') activate(row);
    else if (LETTER.test(event.key)) {
      const going = event.timeStamp - typing.current.at < TYPING_MS;
      typing.current = { text: (going ? typing.current.text : '') + event.key, at: event.timeStamp };
      moveTo(typed(rows, active, typing.current.text) ?? active);
    } else return;
    event.preventDefault();
  }

  return (
    <div
      ref={box}
      role="tree"
      aria-label={t('tree.label')}
      className={classes['tree']}
      style={{ height: list.getTotalSize() }}
      onKeyDown={onKeyDown}
      onBlur={(event) => {
        if (event.relatedTarget) held.current = null;
      }}
    >
      <div role="presentation" style={{ height: list.getTotalSize(), position: 'relative' }}>
        {list.getVirtualItems().map(({ index, key, start }) => {
          const row = rows[index];
          if (!row) return null;
          return (
            <div
              key={key}
              data-index={index}
              role="treeitem"
              aria-level={row.level}
              aria-posinset={row.position}
              aria-setsize={row.siblings}
              aria-expanded={row.expanded ?? undefined}
              aria-selected={row.key === current}
              tabIndex={index === active ? 0 : -1}
              className={`${classes['row']} choosable`}
              style={{
                transform: `translateY(${start}px)`,
                height: rowHeight,
                paddingInlineStart: (row.level - 1) * 16 + 4,
              }}
              onFocus={() => {
                held.current = index;
                setActiveKey(row.key);
              }}
              onClick={() => activate(row)}
            >
              <Twist row={row} onToggle={() => toggle(row)} />
              <RowName row={row} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Opens and closes with the pointer; the keyboard has its arrows for that. */
function Twist({ row, onToggle }: { row: TreeRow; onToggle: () => void }) {
  if (row.expanded === null) return <span className={classes['twist']} />;
  return (
    <ActionIcon
      size={24}
      tabIndex={-1}
      aria-hidden
      onClick={(event) => {
        event.stopPropagation();
        onToggle();
      }}
    >
      {row.expanded ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
    </ActionIcon>
  );
}

function RowName({ row }: { row: TreeRow }) {
  const { t } = useTranslation(['notes', 'common']);
  if (row.kind === 'wait') return <Loader size={12} aria-label={t('common:loading')} />;
  if (row.kind === 'more') return <span className="link">{t('tree.more')}</span>;
  if (row.kind === 'failed') {
    return (
      <span className="err inline gap4">
        <IconAlertCircle size={14} aria-hidden /> {t('tree.failed')}
      </span>
    );
  }
  const page = row.kind === 'view' || row.place?.seq ? memoryPage(row.uri) : null;
  const Written = row.place?.alias_of ? IconCornerDownRight : IconFileText;
  const Icon = row.kind === 'view' ? IconEye : page ? Written : IconFolder;
  return (
    <>
      {row.level > 1 && <Icon size={14} stroke={1.6} aria-hidden className="muted fixed" />}
      {page ? (
        <Link to={page} tabIndex={-1} className={`${classes['name']} cut`} onClick={(event) => event.stopPropagation()}>
          {row.name}
        </Link>
      ) : (
        <span className={`${classes['name']} cut`} data-domain={row.level === 1 || undefined}>
          {row.name}
        </span>
      )}
      {row.kind === 'views' && <Badge color="slate">{t('tree.virtual')}</Badge>}
      {row.place?.alias_of && <span className="muted size12 fixed">{t('tree.alias')}</span>}
      {row.place?.priority != null && !row.place.alias_of && <PriorityBadge priority={row.place.priority} short />}
    </>
  );
}
