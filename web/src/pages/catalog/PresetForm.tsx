// A preset: its name, and its products in the order in which feedback shows them.
import { ActionIcon, Badge, Button, Group, Select, Stack, Text, TextInput, Tooltip } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconX } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState, type ComponentType } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorCard } from '@/parts/ErrorCard';
import { notify } from '@/parts/undoable';
import { moved } from './order';
import { addPreset, editPreset, LIMITS, useCatalogChanged, useProducts, type Preset } from '@/api/catalog';
import { useNameProblem } from './useNameProblem';
import classes from './Catalog.module.css';

type Props = { preset?: Preset; onSaved: (preset: Preset) => void };

export function PresetForm({ preset, onSaved }: Props) {
  const { t } = useTranslation('catalog');
  const changed = useCatalogChanged();
  const problemOf = useNameProblem();
  const [name, setName] = useState(preset?.name ?? '');
  const [chosen, setChosen] = useState<readonly string[]>(preset?.product_ids ?? []);
  const [tried, setTried] = useState(false);
  const saving = useMutation({
    mutationFn: () => {
      const ids = [...chosen];
      return preset
        ? editPreset(preset.preset_id, { name: name.trim(), product_ids: ids })
        : addPreset(name.trim(), ids);
    },
    onSuccess: async (made) => {
      notify(t('saved', { name: made.name }));
      await changed();
      onSaved(made);
    },
  });
  const dirty = !preset || name !== preset.name || chosen.join() !== preset.product_ids.join();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (dirty && !problemOf(name) && !saving.isPending) saving.mutate();
      }}
    >
      <Stack gap="md">
        <TextInput
          label={t('name')}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={tried && problemOf(name)}
          autoComplete="off"
          maw={360}
        />
        <div>
          <Text size="sm" fw={500}>
            {t('preset.products')}
          </Text>
          <Chosen ids={chosen} onChange={setChosen} />
          <AddToPreset ids={chosen} onAdd={(id) => setChosen([...chosen, id])} />
        </div>
        {saving.isError && <ErrorCard error={saving.error} />}
        <Group>
          <Button type="submit" loading={saving.isPending} disabled={!dirty}>
            {t(preset ? 'preset.save' : 'preset.create')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

type ChosenProps = { ids: readonly string[]; onChange: (ids: readonly string[]) => void };

function Chosen({ ids, onChange }: ChosenProps) {
  const { t } = useTranslation('catalog');
  const known = new Map(useProducts().data?.found.map((each) => [each.product_id, each]));
  if (!ids.length) return <p className={classes['hint']}>{t('preset.empty')}</p>;
  return (
    <ol className={classes['list']} aria-label={t('preset.products')}>
      {ids.map((id, index) => {
        const product = known.get(id);
        const name = product?.name ?? id;
        return (
          <li key={id}>
            <span className={classes['place']} aria-hidden>
              {index + 1}
            </span>
            <span className={classes['name']}>{name}</span>
            {product?.status === 'archived' && <Badge color="slate">{t('preset.archived')}</Badge>}
            <Act
              label={t('preset.up', { name })}
              icon={IconArrowUp}
              off={index === 0}
              run={() => onChange(moved(ids, index, -1))}
            />
            <Act
              label={t('preset.down', { name })}
              icon={IconArrowDown}
              off={index === ids.length - 1}
              run={() => onChange(moved(ids, index, 1))}
            />
            <Act
              label={t('preset.remove', { name })}
              icon={IconX}
              run={() => onChange(ids.filter((each) => each !== id))}
            />
          </li>
        );
      })}
    </ol>
  );
}

type ActProps = { label: string; icon: ComponentType<{ size: number }>; off?: boolean; run: () => void };

function Act({ label, icon: Icon, off = false, run }: ActProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon size={28} aria-label={label} disabled={off} onClick={run}>
        <Icon size={14} />
      </ActionIcon>
    </Tooltip>
  );
}

function AddToPreset({ ids, onAdd }: { ids: readonly string[]; onAdd: (id: string) => void }) {
  const { t } = useTranslation('catalog');
  const [typed, setTyped] = useState('');
  const products = useProducts().data?.found ?? [];
  const offered = products.filter((each) => each.status === 'active' && !ids.includes(each.product_id));
  if (ids.length >= LIMITS.products) {
    return <p className={classes['hint']}>{t('preset.full', { most: LIMITS.products })}</p>;
  }
  return (
    <Select
      aria-label={t('preset.addProduct')}
      placeholder={t('preset.addPlaceholder')}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      value={null}
      onChange={(id) => {
        if (id) onAdd(id);
        setTyped('');
      }}
      data={offered.map((each) => ({ value: each.product_id, label: each.name }))}
      limit={50}
      nothingFoundMessage={t('preset.noProduct')}
      w={240}
    />
  );
}
