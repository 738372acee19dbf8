// Fields that narrow a list; each writes itself into the address.
import { Group, NativeSelect, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { usePreferences } from '@/app/preferences';
import { DownloadLink } from '@/parts/DownloadLink';
import { useTyped } from '@/parts/useTyped';
import { exportAddress, useProjects } from './queries';
import { fieldOf, momentOf, writtenOf } from './times';
import type { SetState, TabProps, ViewerState } from './state';

type TextProps = { label: string; hint?: string; value: string; onChange: (value: string) => void; numeric?: boolean };

/** A text that is looked for once nobody types any more. */
export function FilterText({ label, hint, value, onChange, numeric = false }: TextProps) {
  const [typed, setTyped] = useTyped(value, onChange);
  return (
    <TextInput
      label={label}
      value={typed}
      {...(hint ? { placeholder: hint } : {})}
      {...(numeric ? { inputMode: 'numeric' as const, w: 110 } : { w: 200 })}
      onChange={(event) => setTyped(numeric ? event.currentTarget.value.replace(/\D/g, '') : event.currentTarget.value)}
    />
  );
}

type ChoiceProps = {
  label: string;
  value: string;
  options: readonly { value: string; label: string }[];
  onChange: (value: string) => void;
  /** What stands for no choice; "All" unless given. */
  all?: string;
  width?: number;
  /** The name is heard and not seen. */
  bare?: boolean;
};

export function FilterChoice({ label, value, options, onChange, all, width = 150, bare = false }: ChoiceProps) {
  const { t } = useTranslation('viewer');
  return (
    <NativeSelect
      {...(bare ? { 'aria-label': label } : { label })}
      size="xs"
      w={width}
      data={[{ value: '', label: all ?? t('filters.any') }, ...options]}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

/** The project; one that is named in the address is offered even if the server does not list it. */
export function FilterProject({ state, set, bare = false }: TabProps & { bare?: boolean }) {
  const { t } = useTranslation('viewer');
  const { data } = useProjects();
  const names = new Set([...(data?.projects ?? []), ...(state.project ? [state.project] : [])]);
  return (
    <FilterChoice
      label={t('filters.project')}
      bare={bare}
      all={t('filters.allProjects')}
      options={[...names].map((name) => ({ value: name, label: name }))}
      value={state.project}
      onChange={(project) => set({ project })}
    />
  );
}

type TimeProps = { name: 'from' | 'to'; state: ViewerState; set: SetState };

export function FilterTime({ name, state, set }: TimeProps) {
  const { t } = useTranslation('viewer');
  const { clock } = usePreferences();
  const written = state[name];
  const swapped = name === 'to' && (momentOf(state.from) ?? 0) > (momentOf(written) ?? Infinity);
  const error = written && momentOf(written) === null ? t('filters.badTime') : swapped ? t('filters.swapped') : null;
  return (
    <TextInput
      type="datetime-local"
      label={t(`filters.${name}`)}
      w={185}
      value={fieldOf(written, clock)}
      error={error}
      onChange={(event) => set({ [name]: writtenOf(event.currentTarget.value, clock) }, { replace: true })}
    />
  );
}

/** The same rows as a file. */
export function Exports({ what, state }: { what: 'traces' | 'timings' | 'failures'; state: ViewerState }) {
  const { t } = useTranslation('viewer');
  return (
    <Group gap="sm" role="group" aria-label={t('export.label')} wrap="nowrap" className={'aside'}>
      {(['csv', 'ndjson'] as const).map((format) => (
        <DownloadLink key={format} href={exportAddress(what, state, format)} name={`codexmem-${what}.${format}`}>
          {t(`export.${format}`)}
        </DownloadLink>
      ))}
    </Group>
  );
}
