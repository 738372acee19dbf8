// The shelves of the review: which statuses stand on each, and how one list goes through several statuses. Pure.
import type { Schemas } from '@/api/client';

export type QaStatus = Schemas['QAItem']['status'];
export const SHELVES = ['candidate', 'validated', 'expired'] as const;
export type Shelf = (typeof SHELVES)[number];
export type Counted = keyof Schemas['QAStatusCounts'];

export const STATUSES: Readonly<Record<Shelf, readonly Counted[]>> = {
  candidate: ['candidate'],
  validated: ['validated', 'active'],
  expired: ['expired', 'deprecated'],
};

/** The shelf on which an item of this status stands. */
export function shelfOf(status: QaStatus): Shelf | null {
  return SHELVES.find((shelf) => STATUSES[shelf].some((each) => each === status)) ?? null;
}

export type Place = { index: number; after: string | null };

/** Where a list goes on: in which of its statuses, and after what. */
export function parsePlace(cursor: string | null): Place {
  if (cursor === null) return { index: 0, after: null };
  const [index = '0', ...after] = cursor.split(' ');
  return { index: Number(index), after: after.join(' ') || null };
}

/** The place after a page; null at the end of the last status. */
export function nextPlace(place: Place, next: string | null, statuses: number): string | null {
  if (next !== null) return `${place.index} ${next}`;
  return place.index + 1 < statuses ? `${place.index + 1}` : null;
}

/** How many were handed in since the list was read: the number that waits now, less what the list accounts for. */
export function freshOf(waiting: number | null, counted: number | null, decided: number): number {
  return waiting === null || counted === null ? 0 : Math.max(0, waiting - (counted - decided));
}
