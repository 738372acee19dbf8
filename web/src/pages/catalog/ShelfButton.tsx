// Archives a product or preset, or brings it back; archiving can be taken back at once.
import { ActionIcon, Tooltip } from '@mantine/core';
import { IconArchive, IconArchiveOff } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { asApiError } from '@/api/errors';
import { reasonOf } from '@/parts/errorText';
import { notify, notifyError, undoable } from '@/parts/undoable';
import { useCatalogChanged, type Shelf } from '@/api/catalog';

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
  const Icon = offered ? IconArchive : IconArchiveOff;
  return (
    <Tooltip label={label}>
      <ActionIcon
        size={28}
        aria-label={label}
        loading={moving.isPending}
        onClick={(event) => {
          event.stopPropagation();
          moving.mutate();
        }}
      >
        <Icon size={14} />
      </ActionIcon>
    </Tooltip>
  );
}
