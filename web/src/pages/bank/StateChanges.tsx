// What differs between two states of a lesson beside its content.
import { useTranslation } from 'react-i18next';
import { StatusMark } from '@/parts/StatusMark';
import classes from './Bank.module.css';

const FIELDS = ['status', 'role', 'title'] as const;
type Sides = Record<(typeof FIELDS)[number], string>;
type Props = { before: Sides; after: Sides; names: readonly [string, string] };

export function StateChanges({ before, after, names }: Props) {
  const { t } = useTranslation('bank');
  const changed = FIELDS.filter((field) => before[field] !== after[field]);
  if (!changed.length) return null;
  const told = (field: (typeof FIELDS)[number], side: Sides) =>
    field === 'status' ? <StatusMark status={side.status} /> : side[field] || '–';
  return (
    <table className={classes['changes']} aria-label={t('versions.fields')}>
      <thead>
        <tr>
          <th scope="col">{t('versions.field')}</th>
          <th scope="col">{names[0]}</th>
          <th scope="col">{names[1]}</th>
        </tr>
      </thead>
      <tbody>
        {changed.map((field) => (
          <tr key={field}>
            <th scope="row">{t(`fields.${field}`)}</th>
            <td>{told(field, before)}</td>
            <td>{told(field, after)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
