// Products of the catalog: added, renamed, archived and brought back here.
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { usePages } from '@/api/queries';
import { choice, useSearchState } from '@/app/searchState';
import { Page } from '@/parts/Page';
import { Panel } from '@/parts/Panel';
import { VirtualRows } from '@/parts/VirtualRows';
import { AddProduct } from './AddProduct';
import { CatalogNav } from './CatalogNav';
import { ProductRow } from './ProductRow';
import { productPage, SHELVES } from '@/api/catalog';
import { ShelfChoice } from './ShelfChoice';
import classes from './Catalog.module.css';

const SCHEMA = { shelf: choice(SHELVES, 'active') };
const ROW = 44;

export function ProductsPage() {
  const { t } = useTranslation('catalog');
  const [{ shelf }, set] = useSearchState(SCHEMA);
  const key = useMemo(() => ['catalog', 'products', { shelf }], [shelf]);
  const list = usePages(key, (cursor) => productPage(shelf, cursor));
  return (
    <Page title={t('products')} description={t('productsDescription')}>
      <CatalogNav />
      <div className={classes['bar']}>
        <AddProduct />
        <ShelfChoice value={shelf} onChange={(next) => set({ shelf: next })} />
      </div>
      <Panel
        label={t('products')}
        flush
        state={list.query}
        isEmpty={() => !list.rows.length}
        empty={{ title: t('product.none'), why: t('product.noneWhy'), command: 'codexmem product add C2H4' }}
        filtered={
          shelf === 'archived'
            ? { text: t('product.noneArchived'), onClear: () => set({ shelf: 'active' }) }
            : undefined
        }
      >
        <VirtualRows
          rows={list.rows}
          keyOf={(product) => product.product_id}
          render={(product) => <ProductRow product={product} />}
          label={t('products')}
          rowHeight={ROW}
          height={`min(70vh, ${list.rows.length * ROW - 1}px)`}
          onEndReached={list.more}
          loadingMore={list.loadingMore}
        />
      </Panel>
    </Page>
  );
}
