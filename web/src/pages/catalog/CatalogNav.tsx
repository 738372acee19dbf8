// Products and presets.
import { useTranslation } from 'react-i18next';
import { AreaNav } from '@/parts/AreaNav';

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
