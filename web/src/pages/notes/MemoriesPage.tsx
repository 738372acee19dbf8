// Notes as a tree of addresses and a list with filters.
import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { choice, text, useSearchState } from '@/app/searchState';
import { useShortcuts } from '@/app/useShortcuts';
import { localeTag } from '@/i18n';
import { Page } from '@/parts/Page';
import { Panel } from '@/parts/Panel';
import { ProvenanceDrawer } from '@/parts/ProvenanceDrawer';
import { AddressTree } from './AddressTree';
import { rangeOf } from './addresses';
import { NewNoteDialog } from './NewNoteDialog';
import { NoteFilters } from './NoteFilters';
import { NoteList } from './NoteList';
import { STATUSES, statsQuery, type Wish } from './queries';
import classes from './Memories.module.css';

const SCHEMA = {
  domain: text(),
  status: choice(['', ...STATUSES], ''),
  prio: text(),
  q: text(),
  new: text(), // "1", or the address that a new note shall have
  why: text(), // a memory of any kind whose provenance is shown: some kinds have no page of their own
};

export function MemoriesPage() {
  const { t, i18n } = useTranslation(['notes', 'common']);
  const [state, set] = useSearchState(SCHEMA);
  const stats = useQuery(statsQuery);
  useShortcuts([{ keys: 'n', label: t('new.open'), group: 'here', run: () => set({ new: '1' }) }]);
  const total = stats.data?.total ?? null;
  const range = rangeOf(state.prio);
  const wish: Wish = {
    ...(state.domain ? { domain: state.domain } : {}),
    ...(state.status ? { status: state.status } : {}),
    ...(range ? { priority_min: range.from, priority_max: range.to } : {}),
    ...(state.q.trim() ? { q: state.q.trim() } : {}),
  };
  const shown = total?.toLocaleString(localeTag(i18n.language));
  const count = total === null ? '' : t('count', { count: total, shown });
  return (
    <Page
      title={t('title')}
      description={t('description')}
      actions={
        <Button leftSection={<IconPlus size={14} />} onClick={() => set({ new: '1' })}>
          {t('new.open')}
        </Button>
      }
    >
      <div className={classes['columns']}>
        <Panel title={t('tree.title')} actions={<span className={classes['count']}>{count}</span>} flush>
          <AddressTree
            current={state.domain ? `${state.domain}://` : null}
            onDomain={(domain) => set({ domain: domain === state.domain ? '' : domain })}
          />
        </Panel>
        <div className={classes['found']}>
          <NoteFilters
            domain={state.domain}
            status={state.status}
            range={range}
            words={state.q}
            domains={stats.data?.domains ?? {}}
            onChange={(change) => set(change, { replace: 'q' in change })}
          />
          <NoteList wish={wish} onClear={() => set({ domain: '', status: '', prio: '', q: '' })} />
        </div>
      </div>
      <NewNoteDialog
        opened={state.new !== ''}
        suggested={state.new.includes('://') ? state.new : state.domain ? `${state.domain}://` : ''}
        onClose={() => set({ new: '' }, { replace: true })}
      />
      <ProvenanceDrawer reference={state.why || null} onClose={() => set({ why: '' }, { replace: true })} />
    </Page>
  );
}
