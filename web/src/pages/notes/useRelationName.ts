// How one memory speaks of another, in the reader's language; people may name relations of their own.
import { useTranslation } from 'react-i18next';

export function useRelationName(): (relation: string) => string {
  const { t } = useTranslation('notes');
  return (relation) => (relation === 'mentions' ? t('relations.mentions') : relation);
}
