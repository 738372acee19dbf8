// Which part of the catalog is shown: what is in use, what was archived, or all.
import { SegmentedControl } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { SHELVES, type ShelfWish } from '@/api/catalog';

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
