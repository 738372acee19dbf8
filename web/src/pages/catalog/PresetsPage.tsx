// Presets of the catalog beside the one that is written: products in an order.
import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { usePages } from '@/api/queries';
import { choice, text, useSearchState } from '@/app/searchState';
import { Page } from '@/parts/Page';
import { Empty, Panel } from '@/parts/Panel';
import { SplitView } from '@/parts/SplitView';
import { StatusMark } from '@/parts/StatusMark';
import { VirtualRows } from '@/parts/VirtualRows';
import { CatalogNav } from './CatalogNav';
import { PresetForm } from './PresetForm';
import { editPreset, presetPage, SHELVES, usePreset, type Preset } from '@/api/catalog';
import { ShelfButton } from './ShelfButton';
import { ShelfChoice } from './ShelfChoice';
import classes from './Catalog.module.css';

const NEW = 'new';
const SCHEMA = { shelf: choice(SHELVES, 'active'), sel: text() };
const ROW = 44;

export function PresetsPage() {
  const { t } = useTranslation('catalog');
  const [{ shelf, sel }, set] = useSearchState(SCHEMA);
  const key = useMemo(() => ['catalog', 'presets', { shelf }], [shelf]);
  const list = usePages(key, (cursor) => presetPage(shelf, cursor));
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
          <Panel
            label={t('presets')}
            flush
            state={list.query}
            isEmpty={() => !list.rows.length}
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
          >
            <VirtualRows
              rows={list.rows}
              keyOf={(preset) => preset.preset_id}
              label={t('presets')}
              rowHeight={ROW}
              height={`min(70vh, ${list.rows.length * ROW - 1}px)`}
              selectedKey={sel || null}
              onSelect={(preset) => set({ sel: preset.preset_id }, { replace: true })}
              onEndReached={list.more}
              loadingMore={list.loadingMore}
              render={(preset) => <PresetLine preset={preset} />}
            />
          </Panel>
        }
        right={<Right sel={sel} onMade={(preset) => set({ sel: preset.preset_id }, { replace: true })} />}
      />
    </Page>
  );
}

function PresetLine({ preset }: { preset: Preset }) {
  const { t } = useTranslation('catalog');
  const { preset_id: id, name, status } = preset;
  return (
    <div className={classes['row']}>
      <span className={classes['name']}>{name}</span>
      <span className={classes['hint']}>{t('preset.count', { count: preset.product_ids.length })}</span>
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
