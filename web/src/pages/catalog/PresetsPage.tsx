// Presets of the catalog beside the one that is written: products in an order.
import { Badge, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconPlus, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useMutation } from '@tanstack/react-query';
import { usePages } from '@/api/queries';
import { IconAct } from '@/parts/IconAct';
import { ListPanel } from '@/parts/ListPanel';
import { choice, text, useSearchState } from '@/app/searchState';
import { Page } from '@/parts/Page';
import { Empty, Panel } from '@/parts/Panel';
import { SplitView } from '@/parts/SplitView';
import { StatusMark } from '@/parts/StatusMark';
import {
  addPreset,
  editPreset,
  LIMITS,
  type Preset,
  presetPage,
  SHELVES,
  useCatalogChanged,
  usePreset,
  useProducts,
} from '@/api/catalog';
import { ErrorCard } from '@/parts/ErrorCard';
import { notify } from '@/parts/undoable';
import { CatalogNav, ShelfButton, ShelfChoice, useNameProblem } from './ShelfButton';
import { moved } from './order';
import classes from './Catalog.module.css';

const NEW = 'new';
const SCHEMA = { shelf: choice(SHELVES, 'active'), sel: text() };
const ROW = 44;

export function PresetsPage() {
  const { t } = useTranslation('catalog');
  const [{ shelf, sel }, set] = useSearchState(SCHEMA);
  const list = usePages(['catalog', 'presets', { shelf }], (cursor) => presetPage(shelf, cursor));
  return (
    <Page
      title={t('presets')}
      description={t('presetsDescription')}
      actions={
        <Button leftSection={<IconPlus size={14} />} onClick={() => set({ sel: NEW })}>
          {t('preset.add')}
        </Button>
      }
    >
      <CatalogNav />
      <div className={classes['bar']}>
        <ShelfChoice value={shelf} onChange={(next) => set({ shelf: next })} />
      </div>
      <SplitView
        chosen={sel !== ''}
        onBack={() => set({ sel: '' })}
        left={
          <ListPanel
            list={list}
            empty={{
              title: t('preset.none'),
              why: t('preset.noneWhy'),
              command: "codexmem product add CO && codexmem preset add 'gas products' CO",
            }}
            filtered={
              shelf === 'archived'
                ? { text: t('preset.noneArchived'), onClear: () => set({ shelf: 'active' }) }
                : undefined
            }
            keyOf={(preset) => preset.preset_id}
            label={t('presets')}
            rowHeight={ROW}
            selectedKey={sel || null}
            onSelect={(preset) => set({ sel: preset.preset_id }, { replace: true })}
            render={(preset) => <PresetLine preset={preset} />}
          />
        }
        right={
          sel || list.rows.length || list.query.isPending ? (
            <Right sel={sel} onMade={(preset) => set({ sel: preset.preset_id }, { replace: true })} />
          ) : null
        }
      />
    </Page>
  );
}

function PresetLine({ preset }: { preset: Preset }) {
  const { t } = useTranslation('catalog');
  const { preset_id: id, name, status } = preset;
  return (
    <div className="row grow gap12">
      <span className={`${classes['name']} cut`}>{name}</span>
      <span className="muted size12">{t('preset.count', { count: preset.product_ids.length })}</span>
      {status !== 'active' && <StatusMark status={status} />}
      <ShelfButton name={name} status={status} onMove={(next) => editPreset(id, { status: next })} />
    </div>
  );
}

function Right({ sel, onMade }: { sel: string; onMade: (preset: Preset) => void }) {
  const { t } = useTranslation('catalog');
  const preset = usePreset(sel === NEW ? '' : sel);
  if (sel === '') {
    return (
      <Panel label={t('preset.choose')}>
        <Empty title={t('preset.choose')} />
      </Panel>
    );
  }
  if (sel === NEW) {
    return (
      <Panel title={t('preset.add')}>
        <PresetForm key={NEW} onSaved={onMade} />
      </Panel>
    );
  }
  return (
    <Panel title={t('preset.edit')} state={preset}>
      {(found) => <PresetForm key={`${sel} ${found.updated_at}`} preset={found} onSaved={onMade} />}
    </Panel>
  );
}

type Props = { preset?: Preset; onSaved: (preset: Preset) => void };

/** A preset: its name, and its products in the order in which feedback shows them. */
function PresetForm({ preset, onSaved }: Props) {
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
  if (!ids.length) return <p className="muted size12">{t('preset.empty')}</p>;
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
            <span className={`${classes['name']} cut`}>{name}</span>
            {product?.status === 'archived' && <Badge color="slate">{t('preset.archived')}</Badge>}
            <IconAct
              label={t('preset.up', { name })}
              icon={IconArrowUp}
              disabled={index === 0}
              run={() => onChange(moved(ids, index, -1))}
            />
            <IconAct
              label={t('preset.down', { name })}
              icon={IconArrowDown}
              disabled={index === ids.length - 1}
              run={() => onChange(moved(ids, index, 1))}
            />
            <IconAct
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

function AddToPreset({ ids, onAdd }: { ids: readonly string[]; onAdd: (id: string) => void }) {
  const { t } = useTranslation('catalog');
  const [typed, setTyped] = useState('');
  const products = useProducts().data?.found ?? [];
  const offered = products.filter((each) => each.status === 'active' && !ids.includes(each.product_id));
  if (ids.length >= LIMITS.products) {
    return <p className="muted size12">{t('preset.full', { most: LIMITS.products })}</p>;
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
