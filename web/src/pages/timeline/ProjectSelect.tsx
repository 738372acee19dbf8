// Which project: all that have memories, found by typing.
import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { projects } from './queries';

export function ProjectSelect({ value, onChange }: { value: string; onChange: (project: string) => void }) {
  const { t } = useTranslation('timeline');
  const known = useQuery({ queryKey: ['timeline', 'projects'], queryFn: ({ signal }) => projects(signal) });
  // A project of a shared address is shown even where the list does not know it.
  const names = [...new Set([...(known.data ?? []), ...(value ? [value] : [])])].filter(Boolean);
  return (
    <Select
      label={t('filters.project')}
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
