// What the list of notes is narrowed to: words, domain, status, priority.
import { CloseButton, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Range } from './addresses';
import { STATUSES, type Status } from './queries';
import classes from './Memories.module.css';

type Change = { domain: string } | { status: Status | '' } | { prio: string } | { q: string };
type Props = {
  domain: string;
  status: Status | '';
  range: Range | null;
  words: string;
  domains: Readonly<Record<string, number>>;
  onChange: (change: Change) => void;
};

const RANGES = ['0-2', '3-5', '6-10'] as const;
const TYPING_MS = 250;

export function NoteFilters({ domain, status, range, words, domains, onChange }: Props) {
  const { t } = useTranslation(['notes', 'common']);
  const written = range ? `${range.from}-${range.to}` : '';
  const ranges = written && !RANGES.some((each) => each === written) ? [...RANGES, written] : RANGES;
  const named = [...new Set([...Object.keys(domains), ...(domain ? [domain] : [])])].sort();
  return (
    <div className={classes['filters']} role="search" aria-label={t('filters.label')}>
      <Words words={words} onChange={(q) => onChange({ q })} />
      <Select
        className={classes['filter']}
        label={t('filters.domain')}
        placeholder={t('filters.all')}
        data={named.map((name) => ({ value: name, label: `${name}://` }))}
        value={domain || null}
        onChange={(value) => onChange({ domain: value ?? '' })}
        clearable
        searchable={named.length > 10}
      />
      <Select
        className={classes['filter']}
        label={t('filters.status')}
        placeholder={t('filters.standing')}
        data={STATUSES.map((each) => ({ value: each, label: t(`common:status.${each}`) }))}
        value={status || null}
        onChange={(value) => onChange({ status: STATUSES.find((each) => each === value) ?? '' })}
        clearable
      />
      <Select
        className={classes['filter']}
        label={t('filters.priority')}
        placeholder={t('filters.all')}
        data={ranges.map((each) => ({ value: each, label: rangeName(each) }))}
        value={written || null}
        onChange={(value) => onChange({ prio: value ?? '' })}
        clearable
      />
    </div>
  );

  function rangeName(each: string): string {
    const [from, to] = each.split('-');
    return each === '0-2' ? t('filters.core') : t('filters.range', { from, to });
  }
}

/** Told once typing pauses; what is written elsewhere (back, clear) is taken over. */
function Words({ words, onChange }: { words: string; onChange: (words: string) => void }) {
  const { t } = useTranslation(['notes', 'common']);
  const [typed, setTyped] = useState(words);
  const tell = useDebouncedCallback(onChange, TYPING_MS);
  useEffect(() => setTyped(words), [words]);
  return (
    <TextInput
      className={classes['words']}
      type="search"
      label={t('filters.words')}
      placeholder={t('filters.wordsHint')}
      leftSection={<IconSearch size={14} aria-hidden />}
      rightSection={
        typed ? <CloseButton size="xs" aria-label={t('filters.clearWords')} onClick={() => onChange('')} /> : null
      }
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        tell(event.currentTarget.value);
      }}
    />
  );
}
