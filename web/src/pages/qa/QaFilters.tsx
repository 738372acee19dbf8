// Which items: of a project, and by words. Both wait for Enter or for leaving the field.
import { Autocomplete, Group, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, ask } from '@/api/client';

type Props = {
  project: string;
  words: string;
  searchable: boolean;
  /** Projects that the list names. */
  known: readonly string[];
  onChange: (change: { project?: string; q?: string }) => void;
};

const OFFERED = 200;

export function QaFilters({ project, words, searchable, known, onChange }: Props) {
  const { t } = useTranslation('qa');
  const [typedProject, setTypedProject] = useState(project);
  const [typedWords, setTypedWords] = useState(words);
  // Back, forward and "clear filters" change them from outside.
  useEffect(() => setTypedProject(project), [project]);
  useEffect(() => setTypedWords(words), [words]);
  const projects = useQuery({
    queryKey: ['qa', 'projects'],
    queryFn: ({ signal }) => ask(api.GET('/api/projects', { signal })),
  });
  const offered = [...new Set([...known, ...(projects.data?.projects ?? [])])].filter(Boolean).slice(0, OFFERED);
  const chooseProject = (value: string) => value.trim() !== project && onChange({ project: value.trim() });
  const chooseWords = () => typedWords.trim() !== words && onChange({ q: typedWords.trim() });
  return (
    <Group gap="sm" align="flex-start" component="search">
      <Autocomplete
        aria-label={t('filter.project')}
        placeholder={t('filter.anyProject')}
        data={offered}
        value={typedProject}
        onChange={setTypedProject}
        onOptionSubmit={chooseProject}
        onBlur={() => chooseProject(typedProject)}
        onKeyDown={(event) => event.key === 'Enter' && !event.nativeEvent.isComposing && chooseProject(typedProject)}
        size="xs"
        w={180}
        clearable
        onClear={() => chooseProject('')}
      />
      <TextInput
        type="search"
        aria-label={t('filter.words')}
        placeholder={searchable ? t('filter.wordsHint') : t('filter.wordsNot')}
        title={searchable ? undefined : t('filter.wordsOff')}
        disabled={!searchable}
        leftSection={<IconSearch size={14} aria-hidden />}
        value={searchable ? typedWords : ''}
        onChange={(event) => setTypedWords(event.currentTarget.value)}
        onBlur={chooseWords}
        onKeyDown={(event) => event.key === 'Enter' && !event.nativeEvent.isComposing && chooseWords()}
        w={240}
      />
    </Group>
  );
}
