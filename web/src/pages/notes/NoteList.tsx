// The notes that fit the filters, the newest or the best first.
import { Link, useNavigate } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { usePages } from '@/api/queries';
import { NewRows } from '@/parts/NewRows';
import { Panel } from '@/parts/Panel';
import { memoryPage } from '@/parts/reference';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import { VirtualRows } from '@/parts/VirtualRows';
import { PriorityBadge } from './PriorityBadge';
import { newestQuery, notePage, type NoteFound, type NotePage, type Wish } from './queries';
import classes from './Memories.module.css';

const ROW = 56;
const EXAMPLE = 'codexmem memory create project://config "…"';

export function NoteList({ wish, onClear }: { wish: Wish; onClear: () => void }) {
  const { t } = useTranslation(['notes', 'common']);
  const navigate = useNavigate();
  const written = JSON.stringify(wish);
  const queryKey = useMemo(() => ['notes', 'list', JSON.parse(written) as Wish], [written]);
  const { query, rows, more, restart, loadingMore } = usePages(queryKey, (cursor) => notePage(wish, cursor));
  const newest = useQuery(newestQuery(wish));
  const fresh = behind(rows, newest.data);
  const degraded = (query.data?.pages as NotePage[] | undefined)?.[0]?.degraded ?? [];
  const { words, set } = useWishText(wish);
  return (
    <Panel
      title={wish.q ? t('list.found') : t('list.newest')}
      state={query}
      isEmpty={() => rows.length === 0}
      empty={{ title: t('list.empty'), why: t('list.emptyWhy'), command: EXAMPLE }}
      filtered={set ? { text: t('list.none', { filters: words }), onClear } : undefined}
      degraded={degraded.length ? t('list.degraded', { why: degraded.join(' ') }) : null}
      actions={<NewRows count={fresh} onShow={() => void restart()} />}
      flush
    >
      <VirtualRows
        rows={rows}
        keyOf={(row) => row.id}
        label={t('list.label')}
        rowHeight={ROW}
        height={`min(60vh, ${rows.length * ROW}px)`}
        onOpen={(row) => void navigate({ to: memoryPage(row.uri) ?? '.' })}
        onEndReached={more}
        loadingMore={loadingMore}
        render={(row) => <NoteLine row={row} />}
      />
    </Panel>
  );
}

/** The filters that are on, in words: an empty list has to name them. */
function useWishText(wish: Wish): { words: string; set: boolean } {
  const { t } = useTranslation(['notes', 'common']);
  const { q, domain, status, priority_min: from, priority_max: to } = wish;
  const named = [
    q === undefined ? null : t('list.filter.words', { words: q }),
    domain === undefined ? null : t('list.filter.domain', { domain }),
    status === undefined ? null : t('list.filter.status', { status: t(`common:status.${status}`) }),
    from === undefined ? null : t('filters.range', { from, to }),
  ].filter((each) => each !== null);
  return { words: named.join(t('versions.comma')), set: named.length > 0 };
}

/** How many of the newest are not in the list yet, or were written since it was read. */
function behind(rows: readonly NoteFound[], newest: readonly NoteFound[] | undefined): number {
  if (!newest) return 0;
  const known = new Map(rows.map((row) => [row.id, row.version]));
  return newest.filter((row) => (known.get(row.id) ?? 0) < row.version).length;
}

function NoteLine({ row }: { row: NoteFound }) {
  const { t } = useTranslation('notes');
  return (
    <div className={classes['row']}>
      <Link to={memoryPage(row.uri) ?? '.'} tabIndex={-1} className={classes['address']} title={row.uri}>
        {row.uri}
      </Link>
      <span className={classes['headline']}>{row.headline.replace(/^#+\s+/, '')}</span>
      <span className={classes['marks']}>
        {row.status !== 'active' && <StatusMark status={row.status} />}
        <span>{t('version', { version: row.version })}</span>
        <PriorityBadge priority={row.priority} />
      </span>
      <span className={classes['when']}>
        <TimeText at={row.updated_ms} />
      </span>
    </div>
  );
}
