// Memories as a flat list, with the chosen one beside it: what the product's search finds, the best first; or those
// that have certain labels, or are not simply in use: hidden, superseded, awaiting approval, pinned, never told, or in
// need of care.
import { useCallback, useEffect, type ComponentProps } from 'react';
import { useTranslation } from 'react-i18next';
import type { Life } from '@/api/life';
import { usePages } from '@/api/queries';
import { ListPanel } from '@/parts/ListPanel';
import { MemoryPeek } from '@/parts/Peek';
import { explained } from '@/parts/searchResult';
import { TextLink } from '@/parts/TextLink';
import { Beside, LIST_HEIGHT } from './Beside';
import { memoryNumber, type Filters, type Show } from './filters';
import { listed, search, type Found, type Row } from './queries';
import { neighbour } from './TimelineBrowse';
import { TimelineRow } from './TimelineRow';

type Props = {
  filters: Filters;
  anchor: string;
  onAnchor: (anchor: string) => void;
  filtered: { text: string; onClear: () => void } | undefined;
};

export function TimelineFound({ question, onPlace, ...props }: Props & { question: string; onPlace: () => void }) {
  const { t } = useTranslation('timeline');
  const { filters, anchor } = props;
  const list = usePages(['timeline', 'found', question, filters], (cursor) => search(question, filters, cursor));
  const { rows } = list;
  const first = list.query.data?.pages[0] as Found | undefined;
  const number = memoryNumber(anchor);
  return (
    <Flat
      {...props}
      list={list}
      chosen={rows.find((row) => row.seq === number) ?? null}
      named={number !== null}
      question={question}
      after={(row) => rows[rows.indexOf(row) + 1] ?? null}
      onPlace={onPlace}
      title={t('list.foundTitle')}
      label={t('list.found')}
      actions={rows.length > 0 && <TextLink to={explained(question)}>{t('list.why')}</TextLink>}
      degraded={first?.notes.join(' ') || (first?.mode === 'lexical-only' ? t('list.lexical') : null)}
    />
  );
}

export function TimelineListed({ show, ...props }: Props & { show: Show }) {
  const { t } = useTranslation('life');
  const { filters, anchor } = props;
  const { life, mark, health } = show;
  const key = ['timeline', 'listed', life, mark, health, filters];
  const list = usePages(key, (cursor) => listed(show, filters, cursor));
  const { query, rows, more, hasMore } = list;
  // A page may hold nothing that fits although there is more.
  const bare = query.isSuccess && !rows.length && hasMore;
  useEffect(() => {
    if (bare) more();
  }, [bare, more]);
  const number = memoryNumber(anchor);
  const name = health || mark || (life === 'active' ? 'labelled' : life);
  return (
    <Flat
      {...props}
      list={list}
      chosen={rows.find((row) => row.ref === anchor || row.seq === number) ?? null}
      named={anchor !== ''}
      apart={life}
      after={(row) => neighbour(rows, row)}
      title={t(`show.list.${name}`)}
      label={t(`show.list.${name}`)}
      empty={t(`show.none.${name}`, { returnObjects: true })}
    />
  );
}

type FlatProps = Pick<Props, 'onAnchor' | 'filtered'> &
  Pick<ComponentProps<typeof Beside>, 'chosen' | 'named' | 'question' | 'after' | 'onPlace'> &
  Pick<ComponentProps<typeof ListPanel<Row>>, 'list' | 'title' | 'label' | 'empty' | 'actions' | 'degraded'> & {
    apart?: Life;
  };

function Flat({ list, onAnchor, chosen, named, question, after, onPlace, apart, ...panel }: FlatProps) {
  const onChoose = useCallback((row: Row | null) => onAnchor(row?.ref ?? ''), [onAnchor]);
  const told = { ...(question ? { question } : {}), ...(apart ? { apart } : {}) };
  return (
    <Beside
      rows={list.rows}
      chosen={chosen}
      named={named}
      {...(question ? { question } : {})}
      onChoose={onChoose}
      after={after}
      onPlace={onPlace}
      list={({ shown, onSelect, onOpen, toggle }) => (
        <ListPanel
          {...panel}
          list={list}
          keyOf={(row) => row.ref}
          rowHeight={60}
          height={LIST_HEIGHT}
          selectedKey={shown?.ref ?? null}
          {...(onSelect ? { onSelect } : {})}
          onOpen={onOpen}
          toggle={toggle}
          peek={(row) => <MemoryPeek reference={row.ref} />}
          render={(row) => <TimelineRow row={row} {...told} />}
        />
      )}
    />
  );
}
