// What is wrong with a name, as the server would judge it.
import { useTranslation } from 'react-i18next';
import { ApiError } from '@/api/client';
import { LIMITS } from '@/api/catalog';

export function useNameProblem(): (name: string, error?: unknown) => string | null {
  const { t } = useTranslation('catalog');
  return (name, error) => {
    if (!name.trim()) return t('nameMissing');
    if ([...name.trim()].length > LIMITS.name) return t('nameTooLong', { most: LIMITS.name });
    return error instanceof ApiError && error.code === 'conflict' ? t('nameTaken') : null;
  };
}
