// What a version did to a memory, in the reader's language.
import { useTranslation } from 'react-i18next';
import type notes from '@/i18n/en/notes';

type Op = keyof typeof notes.ops;

export function useOpName(): (op: string) => string {
  const { t, i18n } = useTranslation('notes');
  return (op) => (i18n.exists(`notes:ops.${op}`) ? t(`ops.${op as Op}`) : op);
}
