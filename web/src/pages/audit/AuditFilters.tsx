// Which rows; the server looks for tools and projects by their whole name.
import { Autocomplete, Group, Select, TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CHAINS, DECISIONS, KINDS, type AuditFilter, type AuditItem } from './queries';

type Props = {
  filter: AuditFilter;
  /** Rows whose tools and projects are offered. */
  known: readonly AuditItem[];
  onChange: (change: Partial<AuditFilter>) => void;
};

const OFFERED = 100;

export function AuditFilters({ filter, known, onChange }: Props) {
  const { t } = useTranslation(['qa', 'common']);
  const names = (of: (row: AuditItem) => string | null | undefined) =>
    [...new Set(known.map(of).filter((name): name is string => Boolean(name)))].sort().slice(0, OFFERED);
  const any = { value: '', label: t('by.any') };
  const chosen = <T extends string>(words: readonly T[], value: string | null) =>
    words.find((each) => each === value) ?? '';
  return (
    <Group gap="sm" align="flex-end" component="search">
      <Name
        label={t('by.tool')}
        placeholder={t('by.anyTool')}
        value={filter.tool}
        offered={names((row) => row.tool)}
        onChange={(tool) => onChange({ tool })}
      />
      <Select
        label={t('by.decision')}
        w={110}
        allowDeselect={false}
        value={filter.decision}
        onChange={(value) => onChange({ decision: chosen(DECISIONS, value) })}
        data={[any, ...DECISIONS.map((value) => ({ value, label: t(`common:status.${value}`) }))]}
      />
      <Select
        label={t('by.kind')}
        w={160}
        allowDeselect={false}
        value={filter.kind}
        onChange={(value) => onChange({ kind: chosen(KINDS, value) })}
        data={[any, ...KINDS.map((value) => ({ value, label: t(`kind.${value}`) }))]}
      />
      <Select
        label={t('by.chain')}
        w={110}
        allowDeselect={false}
        value={filter.chain}
        onChange={(value) => onChange({ chain: chosen(CHAINS, value) })}
        data={[any, ...CHAINS.map((value) => ({ value, label: t(`chain.${value}`) }))]}
      />
      <Name
        label={t('by.project')}
        placeholder={t('by.anyProject')}
        value={filter.project}
        offered={names((row) => row.project_id)}
        onChange={(project) => onChange({ project })}
      />
      <TextInput
        type="date"
        label={t('by.from')}
        value={filter.from}
        max={filter.to || undefined}
        onChange={(event) => onChange({ from: event.currentTarget.value })}
      />
      <TextInput
        type="date"
        label={t('by.to')}
        value={filter.to}
        min={filter.from || undefined}
        onChange={(event) => onChange({ to: event.currentTarget.value })}
      />
    </Group>
  );
}

type NameProps = {
  label: string;
  placeholder: string;
  value: string;
  offered: string[];
  onChange: (value: string) => void;
};

/** A name that counts once it is whole: with Enter, by a choice, or on leaving the field. */
function Name({ label, placeholder, value, offered, onChange }: NameProps) {
  const [typed, setTyped] = useState(value);
  // Back, forward and "clear filters" change it from outside.
  useEffect(() => setTyped(value), [value]);
  const choose = (name: string) => name.trim() !== value && onChange(name.trim());
  return (
    <Autocomplete
      label={label}
      placeholder={placeholder}
      size="xs"
      w={160}
      data={offered}
      value={typed}
      onChange={setTyped}
      onOptionSubmit={choose}
      onBlur={() => choose(typed)}
      onKeyDown={(event) => event.key === 'Enter' && !event.nativeEvent.isComposing && choose(typed)}
    />
  );
}
