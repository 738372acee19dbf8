// A new product, by its name. Whoever adds one often adds another: the field is empty and focused again afterwards.
import { Button, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '@/api/client';
import { ErrorCard } from '@/parts/ErrorCard';
import { notify } from '@/parts/undoable';
import { addProduct, useCatalogChanged } from '@/api/catalog';
import { useNameProblem } from './useNameProblem';
import classes from './Catalog.module.css';

export function AddProduct() {
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
