// Fields beside the content that two versions differ in.
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/api/client';
import type memory from '@/i18n/en/memory';
import classes from './FieldChanges.module.css';

type FieldName = keyof typeof memory.fields;

export function useFieldName(): (field: string) => string {
  const { t, i18n } = useTranslation('memory');
  return (field) => (i18n.exists(`memory:fields.${field}`) ? t(`fields.${field as FieldName}`) : field);
}

type Props = { changes: readonly Schemas['FieldChange'][]; names: readonly [string, string] };

export function FieldChanges({ changes, names }: Props) {
  const { t } = useTranslation('memory');
  const fieldName = useFieldName();
  if (!changes.length) return null;
  return (
    <table className={classes['changes']} aria-label={t('diff.fields')}>
      <thead>
        <tr>
          <th scope="col">{t('diff.field')}</th>
          <th scope="col">{names[0]}</th>
          <th scope="col">{names[1]}</th>
        </tr>
      </thead>
      <tbody>
        {changes.map(({ field, before, after }) => (
          <tr key={field}>
            <th scope="row">{fieldName(field)}</th>
            <td>{written(before)}</td>
            <td>{written(after)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function written(value: unknown): string {
  if (Array.isArray(value)) return value.map(written).join('\n') || '–';
  if (value === null || value === undefined || value === '') return '–';
  return typeof value === 'string' || typeof value === 'number' ? String(value) : JSON.stringify(value);
}
