// What the product's search finds in the timeline, best first, with the words of the question marked.
import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { usePages } from '@/api/queries';
import { Panel } from '@/parts/Panel';
import { VirtualRows } from '@/parts/VirtualRows';
import { Beside, LIST_HEIGHT } from './Beside';
import { memoryNumber, type Filters } from './filters';
import { search, type Found, type Row } from './queries';
import { TimelineRow } from './TimelineRow';

type Props = {
  question: string;
  filters: Filters;
  anchor: string;
  onAnchor: (anchor: string) => void;
  onPlace: () => void;
  filtered: { text: string; onClear: () => void } | undefined;
};

const ROW = 60;

export function TimelineFound({ question, filters, anchor, onAnchor, onPlace, filtered }: Props) {
  const { t } = useTranslation('timeline');
  const key = useMemo(() => ['timeline', 'found', question, filters], [question, filters]);
  const { query, rows, more, loadingMore } = usePages(key, (cursor) => search(question, filters, cursor));
  const first = query.data?.pages[0] as Found | undefined;
  const number = memoryNumber(anchor);
  const chosen = rows.find((row) => row.seq === number) ?? null;
  const onChoose = useCallback((row: Row | null) => onAnchor(row?.ref ?? ''), [onAnchor]);
  const degraded = first?.notes.join(' ') || (first?.mode === 'lexical-only' ? t('list.lexical') : null);
  return (
    <Beside
      chosen={chosen}
      onChoose={onChoose}
      after={(row) => rows[rows.indexOf(row) + 1] ?? null}
      onPlace={onPlace}
      list={({ onSelect, onOpen }) => (
        <Panel
          title={t('list.foundTitle')}
          state={query}
          isEmpty={() => rows.length === 0}
          filtered={filtered}
          degraded={degraded}
          flush
        >
          <VirtualRows
            label={t('list.found')}
            rows={rows}
            keyOf={(row) => row.ref}
            rowHeight={ROW}
            height={LIST_HEIGHT}
            selectedKey={chosen?.ref ?? null}
            {...(onSelect ? { onSelect } : {})}
            onOpen={onOpen}
            onEndReached={more}
            loadingMore={loadingMore}
            render={(row) => <TimelineRow row={row} question={question} />}
          />
        </Panel>
      )}
    />
  );
}
