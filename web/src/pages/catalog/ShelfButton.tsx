// Archives a product or preset, or brings it back; archiving can be taken back at once.
import { SegmentedControl } from '@mantine/core';
import { IconArchive, IconArchiveOff } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { asApiError } from '@/api/errors';
import { IconAct } from '@/parts/IconAct';
import { reasonOf } from '@/parts/errorText';
import { notify, notifyError, undoable } from '@/parts/undoable';
import { LIMITS, type Shelf, type ShelfWish, SHELVES, useCatalogChanged } from '@/api/catalog';
import { AreaNav } from '@/parts/AreaNav';
import { ApiError } from '@/api/client';

type Props = { name: string; status: Shelf; onMove: (status: Shelf) => Promise<unknown> };

export function ShelfButton({ name, status, onMove }: Props) {
  const { t } = useTranslation('catalog');
  const changed = useCatalogChanged();
  const offered = status === 'active';
  const move = async (to: Shelf) => {
    await onMove(to);
    await changed();
  };
  const moving = useMutation({
    mutationFn: () => move(offered ? 'archived' : 'active'),
    onSuccess: () => {
      if (offered) undoable(t('archived', { name }), () => move('active'));
      else notify(t('broughtBack', { name }));
    },
    onError: (error) => {
      const told = asApiError(error);
      notifyError(told.code === 'conflict' ? t('nameTaken') : reasonOf(error));
    },
  });
  const label = t(offered ? 'archive' : 'bringBack', { name });
  return (
    <IconAct
      label={label}
      icon={offered ? IconArchive : IconArchiveOff}
      loading={moving.isPending}
      run={() => moving.mutate()}
    />
  );
}

/** Which part of the catalog is shown: what is in use, what was archived, or all. */
export function ShelfChoice({ value, onChange }: { value: ShelfWish; onChange: (shelf: ShelfWish) => void }) {
  const { t } = useTranslation('catalog');
  return (
    <SegmentedControl
      aria-label={t('shelf')}
      value={value}
      onChange={(chosen) => onChange(SHELVES.find((each) => each === chosen) ?? 'active')}
      data={SHELVES.map((shelf) => ({ value: shelf, label: t(`shelves.${shelf}`) }))}
    />
  );
}

/** Products and presets. */
export function CatalogNav() {
  const { t } = useTranslation('catalog');
  return (
    <AreaNav
      label={t('nav')}
      pages={[
        { to: '/ui/catalog/products', name: t('products') },
        { to: '/ui/catalog/presets', name: t('presets') },
      ]}
    />
  );
}

/** What is wrong with a name, as the server would judge it. */
export function useNameProblem(): (name: string, error?: unknown) => string | null {
  const { t } = useTranslation('catalog');
  return (name, error) => {
    if (!name.trim()) return t('nameMissing');
    if ([...name.trim()].length > LIMITS.name) return t('nameTooLong', { most: LIMITS.name });
    return error instanceof ApiError && error.code === 'conflict' ? t('nameTaken') : null;
  };
}
