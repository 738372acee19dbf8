// What waits for a person's decision, of all kinds.
import { queryOptions } from '@tanstack/react-query';
import { api, ask, type Schemas } from './client';

export type Reason = Schemas['ReviewReason'];
export type ReviewTotals = Schemas['ReviewTotals'];

const LOOK_MS = 60_000; // between looks: nobody announces what waits

/** How much waits in all projects, for the menu. */
export const waitingQuery = queryOptions({
  queryKey: ['review', 'waiting'],
  queryFn: async ({ signal }) =>
    (await ask(api.GET('/api/review', { params: { query: { limit: 1 } }, signal }))).counts,
  refetchInterval: LOOK_MS,
  staleTime: LOOK_MS / 2,
});

/** What waits on the page of the review; questions with answers have their own. */
export function inReview({ proposed, duplicate, contradiction }: ReviewTotals): number {
  return proposed + duplicate + contradiction;
}
