// Which project: all that have memories, found by typing.
import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api, ask } from '@/api/client';

type Props = { value: string; onChange: (project: string) => void; /** Without a visible label. */ bare?: boolean };

export function ProjectSelect({ value, onChange, bare = false }: Props) {
  const { t } = useTranslation('timeline');
  const known = useQuery({
    queryKey: ['timeline', 'projects'],
    queryFn: async ({ signal }) => (await ask(api.GET('/api/projects', { signal }))).projects,
  });
  // A project of a shared address is shown even where the list does not know it.
  const names = [...new Set([...(known.data ?? []), ...(value ? [value] : [])])].filter(Boolean);
  return (
    <Select
      {...(bare ? { 'aria-label': t('filters.project') } : { label: t('filters.project') })}
      placeholder={t('filters.everyProject')}
      data={names}
      value={value || null}
      onChange={(chosen) => onChange(chosen ?? '')}
      searchable
      clearable
      limit={200}
      comboboxProps={{ keepMounted: false }}
      nothingFoundMessage={t('filters.noProjects')}
      w={180}
      maw="100%"
    />
  );
}
