// A list of memories with the chosen one beside it; where there is no room for both, the list alone.
import { useMediaQuery } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { memo, type ReactNode, useCallback, useDeferredValue, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button, Group, Title } from '@mantine/core';
import { type InfiniteData, useQuery, useQueryClient } from '@tanstack/react-query';
import { IconArrowRight, IconListSearch } from '@tabler/icons-react';
import { useSelecting } from '@/parts/acts/useSelecting';
import { pageOf } from '@/parts/reference';
import { ForgetDialog } from '@/parts/acts/ForgetDialog';
import { memoryQuery } from '@/api/life';
import { LifeMarks, useOriginName } from '@/parts/acts/LifeMarks';
import { MemoryActs } from '@/parts/acts/MemoryActs';
import { listOf } from '@/parts/facets';
import { MemoryText } from '@/parts/MemoryText';
import { Empty, Panel } from '@/parts/Panel';
import { ProvenanceDrawer } from '@/parts/ProvenanceDrawer';
import { Ref } from '@/parts/Ref';
import { explained } from '@/parts/searchResult';
import { plainLine } from '@/parts/snippet';
import { TextLink } from '@/parts/TextLink';
import { TimeText } from '@/parts/TimeText';
import { KindMark } from '@/parts/KindMark';
import { flag, useSearchState } from '@/app/searchState';
import type { Toggle } from '@/parts/VirtualRows';
import type { Row } from './queries';
import { anchorOf } from './filters';
import classes from './Timeline.module.css';

type Acts = {
  /** What is shown beside the list: the chosen row, else the first one where there is room for it. */
  shown: Row | null;
  onSelect?: (row: Row) => void;
  onOpen: (row: Row) => unknown;
  toggle: Toggle<Row>;
};
type Props = {
  /** What the list holds now, in its order. */
  rows: readonly Row[];
  chosen: Row | null;
  /** A row is named by the address, even if it is not there yet: then no other one is shown. */
  named: boolean;
  /** The words by which the rows were found. */
  question?: string;
  /** Choose another one, or none. */
  onChoose: (row: Row | null) => void;
  /** The row to choose when the chosen one is gone. */
  after: (row: Row) => Row | null;
  onPlace?: (() => void) | undefined;
  list: (acts: Acts) => ReactNode;
};

export const LIST_HEIGHT = 'max(320px, calc(100dvh - 276px))';

export function Beside({ rows, chosen, named, question, onChoose, after, onPlace, list }: Props) {
  const narrow = useMediaQuery('(max-width: 62em)', false, { getInitialValueInEffect: false });
  const navigate = useNavigate();
  const onOpen = useCallback(
    async (row: Row) => {
      // The way back leads to the same place of the list.
      const search = (before: object) => ({ ...before, anchor: anchorOf(row) });
      await navigate({ to: '.', search: search as never, replace: true, resetScroll: false });
      const [path, query = ''] = (pageOf(row.ref) ?? `/ui/memories/${row.seq}`).split('?');
      await navigate({ to: path ?? '', search: Object.fromEntries(new URLSearchParams(query)) as never });
    },
    [navigate],
  );
  const next = useRef(after);
  next.current = after;
  const onForgotten = useCallback((row: Row) => onChoose(next.current(row)), [onChoose]);
  const drop = useDropped();
  const { toggle, bar } = useSelecting(rows, (seqs, forgotten) => forgotten && drop(seqs));
  const shown = chosen ?? (narrow || named ? null : (rows[0] ?? null));
  const shared = { shown, onOpen, toggle };
  if (narrow) {
    return (
      <>
        {list(shared)}
        {bar}
      </>
    );
  }
  return (
    <div className={classes['beside']}>
      {list({ ...shared, onSelect: onChoose })}
      {bar}
      {(shown || rows.length > 0) && (
        <MemoryPreview row={shown} question={question} onOpen={onOpen} onForgotten={onForgotten} onPlace={onPlace} />
      )}
    </div>
  );
}

type MemoryPreviewProps = {
  row: Row | null;
  onOpen: (row: Row) => unknown;
  onForgotten: (row: Row) => void;
  /** The words by which it was found. */
  question?: string | undefined;
  /** From a result of a search to its place in the list. */
  onPlace?: (() => void) | undefined;
};

/** The chosen memory beside the list: what it says, and the way to everything about it. */
function MemoryPreview({ row, ...rest }: MemoryPreviewProps) {
  const { t } = useTranslation('timeline');
  // The step in the list is shown first, what it leads to just after.
  const shown = useDeferredValue(row);
  if (shown) return <Chosen row={shown} {...rest} />;
  return (
    <Panel label={t('list.preview')}>
      <Empty title={t('list.choose')} why={t('list.chooseHow')} />
    </Panel>
  );
}

const Chosen = memo(function Chosen({
  row,
  onOpen,
  onForgotten,
  question,
  onPlace,
}: MemoryPreviewProps & { row: Row }) {
  const { t } = useTranslation(['timeline', 'common']);
  const { why, open, close } = useWhy();
  const [forgets, setForgets] = useState<Row | null>(null);
  const drop = useDropped();
  const originName = useOriginName();
  const text = useQuery(memoryQuery(row.ref));
  return (
    <Panel
      label={t('list.preview')}
      state={text}
      className={classes['preview'] ?? ''}
      actions={
        <>
          {onPlace && (
            <Button variant="default" leftSection={<IconListSearch size={14} />} onClick={onPlace}>
              {t('list.inTimeline')}
            </Button>
          )}
          <Button variant="default" onClick={open}>
            {t('common:provenance.open')}
          </Button>
          <Button variant="default" rightSection={<IconArrowRight size={14} />} onClick={() => onOpen(row)}>
            {t('list.open')}
          </Button>
          <MemoryActs key={row.seq} memory={row} onForget={() => setForgets(row)} />
        </>
      }
    >
      <Title order={2} className={classes['previewTitle']} dir="auto">
        {row.kind === 'prompt'
          ? t('numbered', { kind: t('kind.prompt'), ref: row.ref })
          : plainLine(row.title) || t('list.noTitle')}
      </Title>
      <Group gap="sm" className={classes['facets']}>
        <Ref reference={row.ref} />
        <KindMark kind={row.kind} type={row.type} />
        <LifeMarks life={row.life} marks={row.marks} />
        <TimeText at={row.created_ms} />
        {row.session !== null && (
          <TextLink to={`/ui/sessions/${row.session}?sel=m${row.seq}`}>
            {t('list.session', { number: row.session })}
          </TextLink>
        )}
        <span>{row.project}</span>
        <TextLink to={listOf({ origin: row.origin, project: row.project })}>
          {t('list.by', { who: originName(row.origin) })}
        </TextLink>
        {question && <TextLink to={explained(question, row.seq)}>{t('list.whyOne')}</TextLink>}
      </Group>
      {text.data && <MemoryText memory={text.data} />}
      <ProvenanceDrawer reference={why ? row.ref : null} onClose={close} />
      {forgets === row && (
        <ForgetDialog
          opened
          onClose={() => setForgets(null)}
          what={{ ids: [row.seq] }}
          name={row.ref}
          onForgotten={() => {
            drop([row.seq]);
            onForgotten(row);
          }}
        />
      )}
    </Panel>
  );
});

const SCHEMA = { why: flag() };

/** Whether the drawer with a memory's provenance is open; it stands in the address, like everything that is seen. */
function useWhy() {
  const [{ why }, set] = useSearchState(SCHEMA);
  const open = useCallback(() => set({ why: true }), [set]);
  const close = useCallback(() => set({ why: false }, { replace: true }), [set]);
  return { why, open, close };
}

type Pages = InfiniteData<{ rows: Row[] }>;

/** Takes rows out of every list that shows them. */
function useDropped(): (seqs: readonly number[]) => void {
  const client = useQueryClient();
  return useCallback(
    (seqs) => {
      for (const list of ['list', 'listed', 'found']) {
        client.setQueriesData<Pages>({ queryKey: ['timeline', list] }, (data) => data && without(data, seqs));
      }
      // An empty list begins anew with the newest that are known.
      client.setQueriesData<{ rows: Row[] }>(
        { queryKey: ['timeline', 'newest'] },
        (page) => page && { ...page, rows: page.rows.filter((row) => !seqs.includes(row.seq)) },
      );
      // What was forgotten must not be read from memory of the page either.
      client.removeQueries({
        predicate: ({ queryKey: [area, thing, ...rest] }) =>
          area === 'life' && thing === 'memory' && seqs.includes(Number(String(rest.at(-1)).replace(/^#?[SP]?/, ''))),
      });
      for (const other of ['turns', 'session', 'sessions', 'newest']) {
        void client.invalidateQueries({ queryKey: ['timeline', other] });
      }
    },
    [client],
  );
}

function without(data: Pages, seqs: readonly number[]): Pages {
  const pages = data.pages.map((page) =>
    // A page that is not concerned stays the same object, and what was made of it is kept.
    page.rows.some((row) => seqs.includes(row.seq))
      ? { ...page, rows: page.rows.filter((row) => !seqs.includes(row.seq)) }
      : page,
  );
  return { ...data, pages };
}
