// What the audit page asks the server.
import { useQuery } from '@tanstack/react-query';
import { api, ask, given, type Schemas } from '@/api/client';
import type { PageOf } from '@/api/queries';

export type AuditItem = Schemas['AuditItem'];
export const DECISIONS = ['allow', 'deny', 'ask'] as const;
export const KINDS = ['request', 'started', 'result', 'recovered'] as const;
export const CHAINS = ['follows', 'broken', 'forked', 'unknown'] as const;
export type Chain = (typeof CHAINS)[number];

/** Ways in which a row's place in its log may be in doubt. */
export type Damage = Exclude<Chain, 'follows'>;

export type AuditFilter = {
  tool: string;
  decision: '' | (typeof DECISIONS)[number];
  kind: '' | (typeof KINDS)[number];
  chain: '' | Chain;
  project: string;
  /** Days, as 2026-01-31, of the person's own clock. */
  from: string;
  to: string;
};

export type AuditPageOf = PageOf<AuditItem> & { truncated: boolean };

const PAGE = 100;
const DAY_MS = 86_400_000;
const NEWEST = 50;
const LOOK_MS = 5_000;

/** When a day begins, in milliseconds; null for what is no day. */
export function dayBegins(day: string, clock: 'local' | 'utc'): number | null {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day);
  if (!parts) return null;
  const [year, month, date] = [Number(parts[1]), Number(parts[2]) - 1, Number(parts[3])];
  const at = clock === 'utc' ? Date.UTC(year, month, date) : new Date(year, month, date).getTime();
  return Number.isNaN(at) || at < 0 ? null : at;
}

/** The last millisecond of a day; a day that the clock is changed on is not 24 hours long. */
export function dayEnds(day: string, clock: 'local' | 'utc'): number | null {
  const begins = dayBegins(day, clock);
  if (begins === null) return null;
  if (clock === 'utc') return begins + DAY_MS - 1;
  const next = new Date(begins);
  next.setDate(next.getDate() + 1);
  return next.getTime() - 1;
}

export async function auditPage(
  filter: AuditFilter,
  clock: 'local' | 'utc',
  cursor: string | null,
): Promise<AuditPageOf> {
  const { tool, decision, kind, chain, project } = filter;
  const from = dayBegins(filter.from, clock);
  const to = dayEnds(filter.to, clock);
  const query = {
    limit: PAGE,
    outcomes: true,
    ...given({
      tool,
      decision: decision || null,
      kind: kind || null,
      chain: chain || null,
      project_id: project,
      cursor,
    }),
    ...(from === null ? {} : { from: `${from}` }),
    ...(to === null ? {} : { to: `${to}` }),
  };
  const page = await ask(api.GET('/v1/audit', { params: { query } }));
  return { rows: page.items, next: page.next, truncated: page.truncated };
}

/** The rows that arrived last, of whatever kind; asked for now and then, as the live stream does not tell of them. */
export function useNewest() {
  return useQuery({
    queryKey: ['audit', 'newest'],
    queryFn: ({ signal }) =>
      ask(api.GET('/v1/audit', { params: { query: { limit: NEWEST, outcomes: true } }, signal })),
    refetchInterval: LOOK_MS,
    select: (page) => page.items,
  });
}

/** How many of the newest rows belong into a list and are not there yet; days are not looked at. */
export function freshOf(newest: readonly AuditItem[], filter: AuditFilter, rows: readonly AuditItem[]): number {
  const wanted = newest.filter(
    (row) =>
      (!filter.tool || filter.tool.toLowerCase() === row.tool?.toLowerCase()) &&
      (!filter.decision || filter.decision === row.decision) &&
      (!filter.kind || filter.kind === row.kind) &&
      (!filter.chain || filter.chain === row.chain) &&
      (!filter.project || filter.project === row.project_id),
  );
  const known = rows[0];
  const at = known ? wanted.findIndex((row) => row.id === known.id) : -1;
  if (at >= 0) return at;
  return wanted.filter((row) => !known || row.received_at_ms > known.received_at_ms).length;
}

/** The newest row whose place in its log is wrong in this way, and how far was looked. */
export function useDamage(chain: Damage) {
  return useQuery({
    queryKey: ['audit', 'damage', chain],
    queryFn: ({ signal }) => ask(api.GET('/v1/audit', { params: { query: { chain, limit: 1 } }, signal })),
    staleTime: 60_000,
  });
}
