// What kinds of memory are called; one that is not known keeps its own word.
import { useTranslation } from 'react-i18next';

export function useKindName(): (kind: string) => string {
  const { t, i18n } = useTranslation('viewer');
  return (kind) => (i18n.exists(`viewer:kinds.${kind}`) ? t(`kinds.${kind as 'note'}`) : kind);
}
