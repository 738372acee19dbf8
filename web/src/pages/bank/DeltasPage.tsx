// What learnings and rollbacks wrote, over all runs or of one.
import { CloseButton, Group, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { usePages } from '@/api/queries';
import { FilterSelect } from '@/parts/FilterSelect';
import { ListPanel } from '@/parts/ListPanel';
import { choice, text, useSearchState } from '@/app/searchState';
import { NewRows } from '@/parts/NewRows';
import { Page } from '@/parts/Page';
import { useTyped } from '@/parts/useTyped';
import { BankNav } from './BankNav';
import { DeltaLine } from './DeltaLine';
import { deltaPage, type DeltaRow } from './queries';
import { useFresh } from './useFresh';

const STANDINGS = ['applied', 'reverted'] as const;
const SCHEMA = { run: text(), status: choice(['', ...STANDINGS], '') };
const ROW = 44;
const keyOf = (delta: DeltaRow) => delta.delta_id;

export function DeltasPage() {
  const { t } = useTranslation(['bank', 'common']);
  const navigate = useNavigate();
  const [{ run, status }, set] = useSearchState(SCHEMA);
  const [typed, setTyped] = useTyped(run, (words) => set({ run: words.trim() }, { replace: true }));
  const key = ['bank', 'deltas', { run, status }];
  const list = usePages(key, (cursor) => deltaPage({ run, status }, cursor));
  const { shown, fresh } = useFresh(key, list.rows, keyOf, () => deltaPage({ run, status }, null));
  return (
    <Page title={t('deltas')} description={t('deltasDescription')}>
      <BankNav />
      <Group gap="sm">
        <FilterSelect
          label={t('deltaStatus.label')}
          bare
          unset={t('deltaStatus.any')}
          words={STANDINGS}
          nameOf={(word) => t(`deltaStatus.${word}`)}
          value={status}
          onChange={(word) => set({ status: word })}
          w={180}
        />
        <TextInput
          aria-label={t('run')}
          placeholder={t('anyRun')}
          w={300}
          maxLength={200}
          spellCheck={false}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          rightSection={
            typed && <CloseButton size="xs" aria-label={t('common:clearFilters')} onClick={() => setTyped('')} />
          }
        />
        <NewRows count={fresh} onShow={() => void list.restart()} />
      </Group>
      <ListPanel
        list={list}
        empty={{ title: t('noDeltas'), why: t('noDeltasWhy'), command: 'codexmem rb learn RUN' }}
        filtered={
          run || status ? { text: t('noDeltasFiltered'), onClear: () => set({ run: '', status: '' }) } : undefined
        }
        rows={shown}
        keyOf={keyOf}
        render={(delta) => <DeltaLine delta={delta} withRun />}
        label={t('deltas')}
        rowHeight={ROW}
        onOpen={(delta) => void navigate({ to: '/ui/rb/deltas/$id', params: { id: delta.delta_id } })}
      />
    </Page>
  );
}
