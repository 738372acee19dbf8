// What the timeline is narrowed to; all of it stands in the address.
import { Group, SegmentedControl, TextInput } from '@mantine/core';
import { memo, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { KINDS, type TimelineState } from './filters';
import { ProjectSelect } from './ProjectSelect';
import { SearchField } from './SearchField';
import classes from './Timeline.module.css';

type Narrowed = Omit<TimelineState, 'anchor'>;
type Props = Narrowed & { set: (change: Partial<Narrowed>, options?: { replace?: boolean }) => void };

export const TimelineFilters = memo(function TimelineFilters({ set, ...state }: Props) {
  const { t } = useTranslation('timeline');
  const id = useId();
  const kinds = [
    { value: 'all', label: t('filters.all') },
    ...KINDS.map((kind) => ({ value: kind, label: t(`filters.${kind}`) })),
  ];
  return (
    <Group component="section" aria-label={t('filters.label')} gap="sm" align="flex-end" className={classes['filters']}>
      <SearchField
        value={state.q}
        label={t('filters.search')}
        placeholder={t('filters.searchHint')}
        onChange={(q) => set({ q }, { replace: Boolean(q && state.q) })}
      />
      <ProjectSelect value={state.project} onChange={(project) => set({ project })} />
      <div className={classes['kinds']}>
        <span className={classes['label']} id={id}>
          {t('filters.kind')}
        </span>
        <SegmentedControl
          aria-labelledby={id}
          classNames={{ root: classes['control'] ?? '' }}
          data={kinds}
          value={state.kind}
          onChange={(kind) => set({ kind: kind as TimelineState['kind'] })}
        />
      </div>
      {(['from', 'to'] as const).map((name) => (
        <TextInput
          key={name}
          type="date"
          label={t(`filters.${name}`)}
          value={state[name]}
          onChange={(event) => set({ [name]: event.currentTarget.value })}
          w={140}
        />
      ))}
    </Group>
  );
});
