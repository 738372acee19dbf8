// One product in the list: its name, which can be changed in place, and its status.
import { ActionIcon, Button, Group, TextInput, Tooltip } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import { notify, notifyError } from '@/parts/undoable';
import { reasonOf } from '@/parts/errorText';
import { editProduct, useCatalogChanged, type Product } from '@/api/catalog';
import { ShelfButton } from './ShelfButton';
import { useNameProblem } from './useNameProblem';
import classes from './Catalog.module.css';

export function ProductRow({ product }: { product: Product }) {
  const { t } = useTranslation('catalog');
  const [renaming, setRenaming] = useState(false);
  const { product_id: id, name, status } = product;
  if (renaming) return <Renaming product={product} onDone={() => setRenaming(false)} />;
  return (
    <div className={classes['row']}>
      <span className={classes['name']}>{name}</span>
      <StatusMark status={status} />
      <span className={classes['age']}>
        <TimeText at={product.updated_at * 1_000} />
      </span>
      <Group gap={2} wrap="nowrap">
        <Tooltip label={t('rename', { name })}>
          <ActionIcon size={28} aria-label={t('rename', { name })} onClick={() => setRenaming(true)}>
            <IconPencil size={14} />
          </ActionIcon>
        </Tooltip>
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
      className={classes['row']}
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
        className={classes['name'] ?? ''}
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
