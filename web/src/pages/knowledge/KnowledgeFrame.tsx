// What the pages of the knowledge base have in common: their names beside each other, and words to search by.
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { SearchInput } from '@/parts/SearchInput';
import { AreaNav } from '@/parts/AreaNav';
import { Page } from '@/parts/Page';

type Props = { q: string; onSearch: (q: string) => void; beside?: ReactNode; children: ReactNode };

export function KnowledgeFrame({ q, onSearch, beside, children }: Props) {
  const { t } = useTranslation('knowledge');
  return (
    <Page title={t('title')} description={t('description')}>
      <AreaNav
        label={t('nav.label')}
        pages={[
          { to: '/ui/kb', name: t('nav.entries') },
          { to: '/ui/kb/documents', name: t('nav.documents') },
          { to: '/ui/kb/workspaces', name: t('nav.workspaces') },
        ]}
      />
      <search style={{ display: 'flex', gap: 8 }}>
        <SearchInput label={t('search')} flex="1 1 auto" maw={420} value={q} onChange={onSearch} />
        {beside}
      </search>
      {children}
    </Page>
  );
}
