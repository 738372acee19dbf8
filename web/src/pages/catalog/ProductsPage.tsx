// Products of the catalog: added, renamed, archived and brought back here.
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button, Group, TextInput } from '@mantine/core';
import { IconPencil, IconPlus } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { usePages } from '@/api/queries';
import { IconAct } from '@/parts/IconAct';
import { ListPanel } from '@/parts/ListPanel';
import { choice, useSearchState } from '@/app/searchState';
import { Page } from '@/parts/Page';
import { addProduct, editProduct, type Product, productPage, SHELVES, useCatalogChanged } from '@/api/catalog';
import { ApiError } from '@/api/client';
import { ErrorCard } from '@/parts/ErrorCard';
import { notify, notifyError } from '@/parts/undoable';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import { reasonOf } from '@/parts/errorText';
import { CatalogNav, ShelfButton, ShelfChoice, useNameProblem } from './ShelfButton';
import classes from './Catalog.module.css';

const SCHEMA = { shelf: choice(SHELVES, 'active') };
const ROW = 44;

export function ProductsPage() {
  const { t } = useTranslation('catalog');
  const [{ shelf }, set] = useSearchState(SCHEMA);
  const list = usePages(['catalog', 'products', { shelf }], (cursor) => productPage(shelf, cursor));
  return (
    <Page title={t('products')} description={t('productsDescription')}>
      <CatalogNav />
      <div className={classes['bar']}>
        <AddProduct />
        <ShelfChoice value={shelf} onChange={(next) => set({ shelf: next })} />
      </div>
      <ListPanel
        list={list}
        empty={{ title: t('product.none'), why: t('product.noneWhy'), command: 'codexmem product add C2H4' }}
        filtered={
          shelf === 'archived'
            ? { text: t('product.noneArchived'), onClear: () => set({ shelf: 'active' }) }
            : undefined
        }
        keyOf={(product) => product.product_id}
        render={(product) => <ProductRow product={product} />}
        label={t('products')}
        rowHeight={ROW}
      />
    </Page>
  );
}

/** A new product, by its name. Whoever adds one often adds another: the field is empty and focused again afterwards. */
function AddProduct() {
  const { t } = useTranslation('catalog');
  const changed = useCatalogChanged();
  const problemOf = useNameProblem();
  const [name, setName] = useState('');
  const [tried, setTried] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const adding = useMutation({
    mutationFn: () => addProduct(name.trim()),
    onSuccess: async (made) => {
      notify(t('product.added', { name: made.name }));
      setName('');
      setTried(false);
      field.current?.focus();
      await changed();
    },
  });
  const problem = problemOf(name, adding.error);
  const told = adding.isError || tried ? problem : null;
  const taken = adding.error instanceof ApiError && adding.error.code === 'conflict';
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (!problemOf(name) && !adding.isPending) adding.mutate();
      }}
    >
      <div className={classes['add']}>
        <TextInput
          ref={field}
          label={t('product.addLabel')}
          placeholder={t('product.placeholder')}
          w={240}
          autoComplete="off"
          spellCheck={false}
          value={name}
          onChange={(event) => {
            setName(event.currentTarget.value);
            adding.reset();
          }}
          error={told}
          inputWrapperOrder={['label', 'error', 'input']}
        />
        <Button type="submit" leftSection={<IconPlus size={14} />} loading={adding.isPending}>
          {t('product.add')}
        </Button>
      </div>
      {adding.isError && !taken && <ErrorCard error={adding.error} compact />}
    </form>
  );
}

/** One product in the list: its name, which can be changed in place, and its status. */
function ProductRow({ product }: { product: Product }) {
  const { t } = useTranslation('catalog');
  const [renaming, setRenaming] = useState(false);
  const { product_id: id, name, status } = product;
  if (renaming) return <Renaming product={product} onDone={() => setRenaming(false)} />;
  return (
    <div className="row grow gap12">
      <span className={`${classes['name']} cut`}>{name}</span>
      <StatusMark status={status} />
      <span className={classes['age']}>
        <TimeText at={product.updated_at * 1_000} />
      </span>
      <Group gap={2} wrap="nowrap">
        <IconAct label={t('rename', { name })} icon={IconPencil} run={() => setRenaming(true)} />
        <ShelfButton name={name} status={status} onMove={(next) => editProduct(id, { status: next })} />
      </Group>
    </div>
  );
}

function Renaming({ product, onDone }: { product: Product; onDone: () => void }) {
  const { t } = useTranslation(['catalog', 'common']);
  const changed = useCatalogChanged();
  const problemOf = useNameProblem();
  const [name, setName] = useState(product.name);
  const saving = useMutation({
    mutationFn: () => editProduct(product.product_id, { name: name.trim() }),
    onSuccess: async () => {
      notify(t('saved', { name: name.trim() }));
      await changed();
      onDone();
    },
    onError: (error) => notifyError(problemOf(name, error) ?? reasonOf(error)),
  });
  const problem = problemOf(name, saving.error);
  return (
    <form
      className="row grow gap12"
      onSubmit={(event) => {
        event.preventDefault();
        if (!problemOf(name) && !saving.isPending) saving.mutate();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onDone();
      }}
    >
      <TextInput
        aria-label={t('product.renaming', { name: product.name })}
        className={`${classes['name']} cut`}
        maw={320}
        value={name}
        onChange={(event) => {
          setName(event.currentTarget.value);
          saving.reset();
        }}
        error={problem !== null}
        title={problem ?? undefined}
        autoFocus
        spellCheck={false}
        autoComplete="off"
      />
      <Button type="submit" loading={saving.isPending} disabled={problem !== null}>
        {t('common:save')}
      </Button>
      <Button variant="default" onClick={onDone}>
        {t('common:cancel')}
      </Button>
    </form>
  );
}
