// Another memory, found by words or named by its reference.
import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, ask, type Schemas } from '@/api/client';
import { livingOf, type Kind, type Living } from '@/api/life';

type Props = {
  label: string;
  /** Not to be offered. */
  except: readonly number[];
  /** Only of this kind and project. */
  within?: { kind: Kind; project: string };
  value: Living | null;
  onChange: (memory: Living | null) => void;
};

const SHOWN = 8;
const PAUSE_MS = 200;
const NAMED = /^(?:#?[SP]?\d{1,15}|[a-z][a-z0-9_-]*:\/\/.+|(?:qa|kb)-.+|mem:.+)$/i;
const TYPES: Partial<Record<Kind, string>> = {
  observation: 'observations',
  summary: 'sessions',
  prompt: 'prompts',
  note: 'notes',
  qa: 'qa',
  knowledge: 'knowledge',
  lesson: 'lessons',
};

async function find(words: string, within: Props['within'], signal: AbortSignal): Promise<Living[]> {
  if (NAMED.test(words)) {
    const path = { ref: words.replace(/^#/, '') };
    const named = await ask(api.GET('/api/memories/named/{ref}', { params: { path }, signal })).catch(() => null);
    if (named) return [livingOf(named)];
  }
  const type = within && TYPES[within.kind];
  const query = {
    query: words,
    limit: SHOWN,
    ...(type ? { type } : {}),
    ...(within?.project ? { project: within.project } : {}),
  };
  const { results } = (await ask(
    api.GET('/api/search/all', { params: { query }, signal }),
  )) as Schemas['EverythingRows'];
  return results.map(({ seq, label, kind, title, excerpt, project, origin, uri }) => ({
    ...{ seq, kind, project, origin, ref: uri ?? label, title: title || excerpt },
    ...{ life: 'active' as const, marks: [] },
  }));
}

export function MemoryPicker({ label, except, within, value, onChange }: Props) {
  const { t } = useTranslation('life');
  const [typed, setTyped] = useState('');
  const [asked] = useDebouncedValue(typed.trim(), PAUSE_MS);
  const chosen = value && typed === nameOf(value);
  const found = useQuery({
    queryKey: ['life', 'pick', asked, within?.kind, within?.project],
    queryFn: ({ signal }) => find(asked, within, signal),
    enabled: asked !== '' && !chosen,
    placeholderData: keepPreviousData,
  });
  const fitting = (found.data ?? []).filter(
    (each) => !except.includes(each.seq) && (!within || (each.kind === within.kind && each.project === within.project)),
  );
  const offered = value && !fitting.some(({ seq }) => seq === value.seq) ? [value, ...fitting] : fitting;
  const waits = found.isFetching || asked !== typed.trim();
  return (
    <Select
      label={label}
      placeholder={t('pick.placeholder')}
      size="sm"
      searchable
      clearable
      searchValue={typed}
      onSearchChange={setTyped}
      value={value ? String(value.seq) : null}
      onChange={(seq) => onChange(offered.find((each) => String(each.seq) === seq) ?? null)}
      data={offered.map((each) => ({ value: String(each.seq), label: nameOf(each) }))}
      filter={({ options }) => options}
      nothingFoundMessage={t(typed.trim() ? (waits ? 'pick.searching' : 'pick.nothing') : 'pick.begin')}
      maxDropdownHeight={240}
      data-autofocus
    />
  );
}

function nameOf({ ref, title }: Living): string {
  return `${ref} · ${title}`;
}
