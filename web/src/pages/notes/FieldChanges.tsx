// Fields beside the content that two versions differ in.
import { useTranslation } from 'react-i18next';
import type notes from '@/i18n/en/notes';
import type { NoteChange } from './queries';
import classes from './Note.module.css';

export type FieldName = keyof typeof notes.fields;

export function useFieldName(): (field: string) => string {
  const { t, i18n } = useTranslation('notes');
  return (field) => (i18n.exists(`notes:fields.${field}`) ? t(`fields.${field as FieldName}`) : field);
}

type Props = { changes: readonly NoteChange[]; names: readonly [string, string] };

export function FieldChanges({ changes, names }: Props) {
  const { t } = useTranslation('notes');
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
