// The name of a type of event for people; one that the page does not know is shown as the server spells it.
import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import type lab from '@/i18n/en/lab';

export function useTypeName(): (type: string) => string {
  const { t, i18n } = useTranslation('lab');
  return useCallback(
    (type) => (i18n.exists(`lab:types.${type}`) ? t(`types.${type as keyof typeof lab.types}`) : type),
    [t, i18n],
  );
}
