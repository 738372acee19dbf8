// What the timeline is narrowed to; all of it stands in the address.
import { Button, Select, TextInput } from '@mantine/core';
import { memo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { FilterFold } from '@/parts/FilterFold';
import { type Chosen, type Facet, FACETS, facetsQuery, ORIGINS, TYPES, useFacetWord } from '@/parts/facets';
import { ProjectSelect } from '@/parts/ProjectSelect';
import { localeTag } from '@/i18n';
import { CONCERNS, isElsewhere, KINDS, LIVES, MARKS, SCHEMA, type TimelineState } from './filters';
import { SearchField } from './SearchField';
import classes from './Timeline.module.css';

type Narrowed = Omit<TimelineState, 'anchor' | keyof Chosen>;
type Props = Narrowed & { set: (change: Partial<Narrowed>, options?: { replace?: boolean }) => void };

export const TimelineFilters = memo(function TimelineFilters({ set, ...state }: Props) {
  const { t } = useTranslation(['timeline', 'life']);
  const elsewhere = isElsewhere(state);
  const kinds = [
    { value: 'all', label: t('filters.all') },
    ...KINDS.map((kind) => ({ value: kind, label: t(`filters.${kind}`) })),
  ];
  return (
    <FilterFold
      values={[state.project, elsewhere, state.kind !== 'all', state.from, state.to]}
      lead={
        <SearchField
          value={state.q}
          label={t('filters.search')}
          placeholder={t('filters.searchHint')}
          // A search looks at what is in use.
          onChange={(q) => {
            const back = q && elsewhere ? ({ life: 'active', mark: '', health: '' } as const) : {};
            set({ q, ...back }, { replace: Boolean(q && state.q) });
          }}
        />
      }
    >
      <ProjectSelect value={state.project} onChange={(project) => set({ project })} />
      <Select
        label={t('life:show.label')}
        w={140}
        allowDeselect={false}
        comboboxProps={{ keepMounted: false }}
        value={state.health ? `health ${state.health}` : state.mark ? `mark ${state.mark}` : `life ${state.life}`}
        onChange={(value) => {
          const life = (['active', ...LIVES] as const).find((each) => value === `life ${each}`) ?? 'active';
          const mark = MARKS.find((each) => value === `mark ${each}`) ?? '';
          const health = CONCERNS.find((each) => value === `health ${each}`) ?? '';
          set({ life, mark, health, q: '', from: '', to: '' });
        }}
        data={[
          {
            group: t('life:show.life'),
            items: (['active', ...LIVES] as const).map((each) => ({
              value: `life ${each}`,
              label: t(`life:show.${each}`),
            })),
          },
          {
            group: t('life:show.mark'),
            items: MARKS.map((each) => ({ value: `mark ${each}`, label: t(`life:show.${each}`) })),
          },
          {
            group: t('life:show.health'),
            items: CONCERNS.map((each) => ({ value: `health ${each}`, label: t(`life:show.${each}`) })),
          },
        ]}
      />
      <Select
        label={t('filters.kind')}
        w={150}
        allowDeselect={false}
        comboboxProps={{ keepMounted: false }}
        data={kinds}
        value={state.kind}
        onChange={(kind) => set({ kind: SCHEMA.kind.parse(kind ?? '') })}
      />
      {(elsewhere ? [] : (['from', 'to'] as const)).map((name) => (
        <TextInput
          key={name}
          type="date"
          label={t(`filters.${name}`)}
          value={state[name]}
          onChange={(event) => set({ [name]: event.currentTarget.value })}
          w={140}
        />
      ))}
    </FilterFold>
  );
});

type LabelFiltersProps = Chosen & { project: string; set: (change: Partial<Chosen>) => void };

const TYPED = ['file', 'concept', 'agent', 'type'] as const;
const ALWAYS = { from: '', to: '' };
const SHOWN = 200; // labels in the open list

/**
 * What the list is narrowed to besides: type, file, concept, agent, and who wrote it. One field offers the labels of
 * the project, and whatever is typed; each choice stands beside it until it is removed.
 */
export const LabelFilters = memo(function LabelFilters({ project, set, ...chosen }: LabelFiltersProps) {
  const { t, i18n } = useTranslation(['timeline', 'learned']);
  const [typed, setTyped] = useState('');
  const known = useQuery({ ...facetsQuery(project, ALWAYS), enabled: project !== '' }).data;
  const word = useFacetWord();
  const title = (name: Facet) => t(`learned:learned.facet.${name}`);
  const said = (name: Facet, value: string) => t('labels.one', { name: title(name), value: word(name, value) });

  const valuesOf = (name: Facet): { value: string; count?: number }[] => {
    if (known) return known[name];
    return name === 'type' ? TYPES.map(asValue) : name === 'origin' ? ORIGINS.map(asValue) : [];
  };
  const item = (name: Facet, value: string, count?: number) => {
    const text = name === 'file' ? value : word(name, value);
    const number = count === undefined ? '' : ` (${count.toLocaleString(localeTag(i18n.language))})`;
    return { value: `${name} ${value}`, label: `${text}${number}` };
  };
  const groups = FACETS.map((name) => ({
    group: title(name),
    items: valuesOf(name).map(({ value, count }) => item(name, value, count)),
  })).filter(({ items }) => items.length > 0);
  const own = typed.trim();
  const offered = new Set(groups.flatMap(({ items }) => items.map(({ value }) => value)));
  const free = TYPED.map((name) => ({ value: `${name} ${own}`, label: said(name, own) })).filter(
    ({ value }) => own !== '' && !offered.has(value),
  );
  const active = FACETS.filter((name) => chosen[name]);
  return (
    <div className={classes['labels']} role="group" aria-label={t('labels.label')}>
      <Select
        aria-label={t('labels.add')}
        placeholder={t('labels.add')}
        data={free.length ? [...groups, { group: t('labels.typed'), items: free }] : groups}
        value={null}
        searchValue={typed}
        onSearchChange={setTyped}
        onChange={(value) => {
          const [name = '', ...rest] = (value ?? '').split(' ');
          if (!value) return;
          set({ [name]: rest.join(' ') } as Partial<Chosen>);
          setTyped('');
        }}
        searchable
        limit={SHOWN}
        comboboxProps={{ keepMounted: false }}
        nothingFoundMessage={t('labels.none')}
        w={220}
      />
      {active.map((name) => (
        <Button
          key={name}
          variant="light"
          className={classes['chip'] ?? ''}
          rightSection={<IconX size={14} aria-hidden />}
          title={chosen[name]}
          aria-label={t('labels.remove', { label: said(name, chosen[name]) })}
          onClick={() => set({ [name]: '' } as Partial<Chosen>)}
        >
          {said(name, chosen[name])}
        </Button>
      ))}
    </div>
  );
});

function asValue(value: string) {
  return { value };
}
