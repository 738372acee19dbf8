// What was measured: a product, its value, and the part of the whole that it makes up, while it is typed.
import { Badge, Select, TextInput } from '@mantine/core';
import { IconAlertTriangle, IconX } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { useProducts } from '@/api/catalog';
import { IconAct } from '@/parts/IconAct';
import { TextLink } from '@/parts/TextLink';
import { LIMITS, rowOf, type Problem, type Row } from './opinion';
import classes from './Feedback.module.css';

type Props = {
  rows: readonly Row[];
  onChange: (rows: readonly Row[]) => void;
  /** In the order of the rows. */
  fractions: readonly number[];
  sum: number;
  /** Whether the fractions are those that the server keeps. */
  kept: boolean;
  /** What to say about the value of a product, where there is something. */
  problem: (productId: string) => string | null;
};

export function ProductTable({ rows, onChange, fractions, sum, kept, problem }: Props) {
  const { t, i18n } = useTranslation('bank');
  const tag = localeTag(i18n.language);
  const percent = new Intl.NumberFormat(tag, { style: 'percent', minimumFractionDigits: 1, maximumFractionDigits: 1 });
  const figure = new Intl.NumberFormat(tag, { maximumSignificantDigits: 8 });
  const box = useRef<HTMLDivElement>(null);

  /** Whoever has chosen a product goes on with its value. */
  function add(row: Row) {
    onChange([...rows, row]);
    requestAnimationFrame(() => {
      const fields = box.current?.querySelectorAll<HTMLInputElement>('tbody input');
      fields?.[fields.length - 1]?.focus();
    });
  }

  return (
    <div>
      <div className={classes['box']} ref={box}>
        <table className={classes['table']} aria-label={t('feedback.products')}>
          <thead>
            <tr>
              <th scope="col">{t('feedback.product')}</th>
              <th scope="col" className={classes['value']}>
                {t('feedback.value')}
              </th>
              <th scope="col" className={classes['fraction']}>
                {t('feedback.fraction')}
              </th>
              <td className={classes['act']} />
            </tr>
          </thead>
          <tbody>
            {!rows.length && (
              <tr>
                <td colSpan={4}>
                  <span className={classes['hint']}>{t('feedback.noProducts')}</span>
                </td>
              </tr>
            )}
            {rows.map((row, index) => (
              <tr key={row.productId}>
                <th scope="row">
                  {row.name} {row.archived && <Badge color="slate">{t('feedback.archived')}</Badge>}
                </th>
                <td>
                  <TextInput
                    aria-label={t('feedback.valueOf', { product: row.name })}
                    inputMode="decimal"
                    autoComplete="off"
                    value={row.value}
                    onChange={({ currentTarget: { value } }) =>
                      onChange(rows.map((each) => (each.productId === row.productId ? { ...each, value } : each)))
                    }
                    error={problem(row.productId)}
                  />
                </td>
                <td>
                  <div className={classes['share']}>
                    <span className={classes['bar']} aria-hidden>
                      <span style={{ width: `${(fractions[index] ?? 0) * 100}%` }} />
                    </span>
                    <span>{percent.format(fractions[index] ?? 0)}</span>
                  </div>
                </td>
                <td>
                  <IconAct
                    label={t('feedback.remove', { product: row.name })}
                    icon={IconX}
                    run={() => onChange(rows.filter((each) => each.productId !== row.productId))}
                  />
                </td>
              </tr>
            ))}
          </tbody>
          {rows.length > 0 && (
            <tfoot>
              <tr>
                <th scope="row">{t('feedback.sum')}</th>
                <td>{figure.format(sum)}</td>
                <td colSpan={2}>
                  <span className={classes['hint']}>{kept ? t('feedback.kept') : t('feedback.preview')}</span>
                </td>
              </tr>
            </tfoot>
          )}
        </table>
      </div>
      <div role="status">
        {rows.length > 0 && sum === 0 && (
          <p className={classes['warn']}>
            <IconAlertTriangle size={14} aria-hidden />
            {t('feedback.zero')}
          </p>
        )}
      </div>
      <AddProduct rows={rows} onAdd={add} />
    </div>
  );
}

function AddProduct({ rows, onAdd }: { rows: readonly Row[]; onAdd: (row: Row) => void }) {
  const { t, i18n } = useTranslation('bank');
  const catalog = useProducts();
  const [typed, setTyped] = useState('');
  const taken = new Set(rows.map((row) => row.productId));
  const products = catalog.data?.found ?? [];
  const offered = products.filter((each) => each.status === 'active' && !taken.has(each.product_id));
  if (catalog.data && !products.length) {
    return (
      <div className={classes['add']}>
        <span className={classes['hint']}>{t('feedback.noCatalog')}</span>
        <TextLink to="/ui/catalog/products">{t('feedback.toCatalog')}</TextLink>
      </div>
    );
  }
  return (
    <div className={classes['add']}>
      <Select
        aria-label={t('feedback.addProduct')}
        placeholder={t('feedback.addPlaceholder')}
        searchable
        searchValue={typed}
        onSearchChange={setTyped}
        value={null}
        onChange={(id) => {
          const chosen = offered.find((each) => each.product_id === id);
          if (chosen) onAdd(rowOf(chosen));
          setTyped('');
        }}
        data={offered.map((each) => ({ value: each.product_id, label: each.name }))}
        limit={50}
        disabled={rows.length >= LIMITS.products}
        nothingFoundMessage={t('feedback.noProduct')}
        w={240}
      />
      <TextLink to="/ui/catalog/products">{t('feedback.toCatalog')}</TextLink>
      {catalog.data?.cut && (
        <span className={classes['hint']}>
          {t('feedback.cut', { n: products.length.toLocaleString(localeTag(i18n.language)) })}
        </span>
      )}
    </div>
  );
}

/** What a problem with a field says. */
export function useProblemText(): (problem: Problem | undefined, most?: number) => string | null {
  const { t, i18n } = useTranslation('bank');
  return (problem, most = 0) =>
    problem ? t(`feedback.problems.${problem}`, { most: most.toLocaleString(localeTag(i18n.language)) }) : null;
}
