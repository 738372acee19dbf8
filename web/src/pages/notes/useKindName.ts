// The kinds of memories in the reader's language.
import { useTranslation } from 'react-i18next';
import type notes from '@/i18n/en/notes';

type Kind = keyof typeof notes.kinds;

export function useKindName(): (kind: string) => string {
  const { t, i18n } = useTranslation('notes');
  return (kind) => (i18n.exists(`notes:kinds.${kind}`) ? t(`kinds.${kind as Kind}`) : kind);
}
