// What limited a search, in the reader's language; the server writes it in English.
import { useTranslation } from 'react-i18next';

const WHOLE = {
  'no embedder is configured: words only': 'noEmbedder',
  'nothing here has vectors of this model: words only': 'noVectors',
  'the past is searched by words only': 'past',
  'the query is empty': 'emptyQuery',
} as const;
const BEGINNINGS = [
  ['no vectors: ', 'silent'],
  ['not reranked: ', 'notReranked'],
] as const;

type Key = (typeof WHOLE)[keyof typeof WHOLE] | (typeof BEGINNINGS)[number][1];

/** Which sentence a note means, and the reason that it gives; null for one that is not known. */
export function meaningOf(note: string): { key: Key; reason: string } | null {
  if (note in WHOLE) return { key: WHOLE[note as keyof typeof WHOLE], reason: '' };
  const found = BEGINNINGS.find(([beginning]) => note.startsWith(beginning));
  return found ? { key: found[1], reason: note.slice(found[0].length) } : null;
}

export function useNote(): (note: string) => string {
  const { t } = useTranslation('viewer');
  return (note) => {
    const meant = meaningOf(note);
    return meant ? t(`traces.notes.${meant.key}`, { reason: meant.reason }) : note;
  };
}
