// What the panels of a project's page ask.
import { queryOptions } from '@tanstack/react-query';
import { api, ask, type Schemas } from '@/api/client';
import type { PageOf } from '@/api/queries';
import { FACETS, type Chosen, type Span } from '@/parts/facets';

export type Days = Schemas['BriefDays'];
export type Health = Schemas['BriefHealth'];
export type Cost = Schemas['BriefCost'];
export type DigestPage = Schemas['BriefDigest'];
export type Learned = DigestPage['items'][number];
export type Session = DigestPage['sessions'][number];

export const WEEKS = 26;
export const COST_DAYS = 30;
const LIMIT = 50;
const DAY_MS = 86_400_000;

export function daysQuery(project: string, timezone: number) {
  return queryOptions({
    queryKey: ['brief', 'days', project, timezone],
    queryFn: ({ signal }) =>
      ask(api.GET('/api/brief/days', { params: { query: { project, weeks: WEEKS, timezone } }, signal })),
  });
}

export function healthQuery(project: string) {
  return queryOptions({
    queryKey: ['brief', 'health', project],
    queryFn: ({ signal }) => ask(api.GET('/api/brief/health', { params: { query: { project } }, signal })),
  });
}

export function costQuery(project: string) {
  return queryOptions({
    queryKey: ['brief', 'cost', project],
    queryFn: ({ signal }) =>
      ask(api.GET('/api/brief/cost', { params: { query: { project, days: COST_DAYS } }, signal })),
  });
}

/** A page of what was learned in a time; each row with the session that it was learned in. */
export async function digest(
  project: string,
  span: Span,
  chosen: Chosen,
  cursor: string | null,
): Promise<PageOf<{ row: Learned; session: Session | null }>> {
  const filters = Object.fromEntries(FACETS.filter((name) => chosen[name]).map((name) => [name, [chosen[name]]]));
  const query = { project, ...span, ...filters, limit: LIMIT, ...(cursor ? { cursor } : {}) };
  const page = await ask(api.GET('/api/brief/digest', { params: { query } }));
  const sessions = new Map(page.sessions.map((session) => [session.key, session]));
  const rows = page.items.map((row) => ({ row, session: sessions.get(row.session_key ?? '') ?? null }));
  return { rows, next: page.next_cursor };
}

/** The number of a day that is written as 2026-11-18. */
export function dayNumber(day: string): number {
  return Math.round(Date.parse(`${day}T00:00:00Z`) / DAY_MS);
}

export function dayText(number: number): string {
  return new Date(number * DAY_MS).toISOString().slice(0, 10);
}

/** The first and last moment of some days by a clock that is so many minutes ahead of UTC. */
export function spanOf(first: string, last: string, timezone: number): Span {
  const shift = timezone * 60_000;
  return {
    from: String(dayNumber(first) * DAY_MS - shift),
    to: String((dayNumber(last) + 1) * DAY_MS - shift - 1),
  };
}

/** How much is shown as how dark: 1 to 4 by the share of the busiest day. */
export function levelOf(memories: number, most: number): number {
  return memories ? Math.max(1, Math.ceil((4 * memories) / most)) : 0;
}
