// Which items are worth standing beside one under review. Pure.
import type { QaDetail, QaItem, QaNeighbour } from './queries';

type Compared = Pick<QaNeighbour, 'similarity' | 'likeness' | 'agreement'>;

/** An item beside the one under review; one that is only linked was not compared. */
export type Beside = QaItem & { against: boolean } & Partial<Compared>;

const SHORT = 11; // characters of an id that tell items apart before the eye

/** An id as it is shown where the whole of it is only in the way. */
export function shortId(id: string): string {
  return id.length > SHORT ? `${id.slice(0, SHORT)}…` : id;
}

const WORTH = 0.3; // below, a question that is not alike has only a word or two in common

export function besides(item: QaDetail, near: readonly QaNeighbour[]): Beside[] {
  const linked = new Set(item.contradictions.map(({ qa_id }) => qa_id));
  const compared = new Set(near.map(({ qa_id }) => qa_id));
  const found = near.map((other): Beside => ({ ...other, against: linked.has(other.qa_id) }));
  const alone = item.contradictions
    .filter(({ qa_id }) => !compared.has(qa_id))
    .map((other): Beside => ({ ...other, against: true }));
  const worth = found.filter(({ against, likeness, similarity = 0 }) => {
    return against || likeness !== 'other' || similarity >= WORTH;
  });
  const order = ({ against }: Beside) => (against ? 0 : 1);
  return [...alone, ...worth].sort((a, b) => order(a) - order(b) || (b.similarity ?? 0) - (a.similarity ?? 0));
}
