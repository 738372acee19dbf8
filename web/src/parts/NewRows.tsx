// "3 new": says that a list has fallen behind, and brings it up to date when asked.
import { Button } from '@mantine/core';
import { IconArrowUp } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';

export function NewRows({ count, onShow }: { count: number; onShow: () => void }) {
  const { t } = useTranslation();
  if (!count) return null;
  return (
    <Button size="compact-xs" radius="xl" leftSection={<IconArrowUp size={12} />} onClick={onShow}>
      {t('newRows', { count })}
    </Button>
  );
}
