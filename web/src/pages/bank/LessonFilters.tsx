// Which lessons: for whom, of which type and status, and by words.
import { Group, Select, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useTyped } from '@/parts/useTyped';
import { SHELVES, TYPES, useRoles, type LessonWish } from './queries';

type Props = {
  state: LessonWish;
  set: (change: Partial<LessonWish>, how?: { replace?: boolean }) => void;
  children?: ReactNode;
};

export function LessonFilters({ state, set, children }: Props) {
  const { t } = useTranslation(['bank', 'common']);
  const [typed, setTyped] = useTyped(state.q, (q) => set({ q: q.trim() }, { replace: true }));
  // Lessons of another profile may be for roles that this one does not have.
  const roles = [...new Set([...(useRoles().data ?? []), state.role])].filter(Boolean);
  return (
    <Group gap="sm" component="search">
      <Select
        aria-label={t('role')}
        w={160}
        allowDeselect={false}
        value={state.role}
        onChange={(role) => set({ role: role ?? '' })}
        data={[{ value: '', label: t('anyRole') }, ...roles.map((role) => ({ value: role, label: role }))]}
      />
      <Select
        aria-label={t('type')}
        w={130}
        allowDeselect={false}
        value={state.type}
        onChange={(type) => set({ type: (type ?? '') as LessonWish['type'] })}
        data={[
          { value: '', label: t('anyType') },
          ...TYPES.map((type) => ({ value: type, label: t(`types.${type}`) })),
        ]}
      />
      <Select
        aria-label={t('status')}
        w={140}
        allowDeselect={false}
        value={state.status}
        onChange={(status) => set({ status: (status ?? '') as LessonWish['status'] })}
        data={[
          { value: '', label: t('anyStatus') },
          ...SHELVES.map((word) => ({ value: word, label: t(`common:status.${word}`) })),
        ]}
      />
      <TextInput
        type="search"
        aria-label={t('search')}
        placeholder={t('search')}
        leftSection={<IconSearch size={14} aria-hidden />}
        w={260}
        maxLength={2_000}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      {children}
    </Group>
  );
}
