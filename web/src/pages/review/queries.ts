// What the review asks the server, and what it tells it.
import { queryOptions } from '@tanstack/react-query';
import { api, ask, type Schemas } from '@/api/client';
import type { Living } from '@/api/life';
import type { PageOf } from '@/api/queries';
import type { Reason } from '@/api/review';
import { undo } from '@/api/undo';

export type ReviewMemory = Schemas['ReviewMemory'];
export type Decision = Schemas['ReviewDecision'];
/** One thing to decide about; a pair may wait for two reasons, so the reason is part of its name. */
export type Finding = Schemas['ReviewRow'];

const PAGE = 30;
const MOST_TRIES = 4; // pages that may hold nothing that still waits
export const REASONS = ['proposed', 'duplicate', 'contradiction'] as const satisfies readonly Reason[];

function asked(reason: Reason | 'all', project: string) {
  return { ...(reason === 'all' ? {} : { reason: [reason] }), ...(project ? { project: [project] } : {}) };
}

export async function findings(
  reason: Reason | 'all',
  project: string,
  cursor: string | null,
): Promise<PageOf<Finding>> {
  let next = cursor;
  for (let tries = 1; ; tries += 1) {
    const query = { ...asked(reason, project), limit: PAGE, ...(next ? { cursor: next } : {}) };
    const page = await ask(api.GET('/api/review', { params: { query } }));
    next = page.next_cursor;
    if (page.items.length || next === null || tries === MOST_TRIES) {
      const rows = page.items.map((item) => ({ ...item, id: `${item.reason} ${item.id}` }) as Finding);
      return { rows, next };
    }
  }
}

export function countsQuery(project: string) {
  return queryOptions({
    queryKey: ['review', 'counts', project],
    queryFn: async ({ signal }) => {
      const query = { ...asked('all', project), limit: 1 };
      return (await ask(api.GET('/api/review', { params: { query }, signal }))).counts;
    },
  });
}

/** Look at what was written since the last look, without waiting for an idle moment. */
export async function lookNow(): Promise<number> {
  let found = 0;
  for (let more = true; more;) {
    const seen = await ask(api.POST('/api/review/scan', {}));
    found += seen.found;
    more = seen.more;
  }
  return found;
}

export function decide({ newer, older }: Finding, decision: Decision) {
  const body = { decision, seq: newer.seq, reason: '', ...(older ? { other: older.seq } : {}) };
  return ask(api.POST('/api/review/decide', { body }));
}

/** Keeping both writes no memory: it is taken back by opening the pair again. */
export function takeBack(finding: Finding, decision: Decision) {
  return async (delta: string | null) => {
    if (decision === 'keep') await decide(finding, 'reopen');
    else if (delta !== null) await undo({ delta }, 'safe');
  };
}

export function livingOf(memory: ReviewMemory): Living {
  const { seq, ref, kind, title, project, life, marks, origin } = memory;
  return { seq, ref, kind, title, project, life, marks, origin };
}
