// What the viewer asks the server, and how often.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { api, ask, given, type Schemas } from '@/api/client';
import { usePages } from '@/api/queries';
import { endOf } from './times';
import type { Range, ViewerState } from './state';

export type Trace = Schemas['Trace'];
export type TraceDetail = Schemas['TraceAnswer'];
export type Ranked = Schemas['RankedResult'];
export type Timing = Schemas['Timing'];
export type Failures = Schemas['FailuresAnswer'];
export type Failure = Failures['failures'][number];
export type Bucket = Schemas['TrendsAnswer']['buckets'][number];

const PAGE = 200;
const NEWEST = 6;
const DAY_S = 86_400;
const RANGE: Record<Range, { days: number; windowSec: number; bucketSec: number; again: number }> = {
  '1h': { days: 1, windowSec: 3_600, bucketSec: 60, again: 15_000 },
  '24h': { days: 1, windowSec: DAY_S, bucketSec: 1_800, again: 60_000 },
  // A window is a day at most: seven of them.
  '7d': { days: 7, windowSec: DAY_S, bucketSec: 3_600, again: 300_000 },
};

/** One memory as it is now; what was forgotten meanwhile is not there. */
export function useNamed(seq: number | undefined) {
  return useQuery({
    queryKey: ['viewer', 'named', seq],
    queryFn: ({ signal }) =>
      ask(api.GET('/api/memories/named/{ref}', { params: { path: { ref: `#${seq}` } }, signal })),
    enabled: seq !== undefined,
    staleTime: 60_000,
    retry: false,
  });
}

/** Agents on the server's machine, and what they keep. */
export function useKept() {
  return useQuery({
    queryKey: ['viewer', 'kept'],
    queryFn: ({ signal }) => ask(api.GET('/api/transcripts/found', { signal })),
    staleTime: Infinity,
  });
}

export function useProjects() {
  return useQuery({
    queryKey: ['viewer', 'projects'],
    queryFn: ({ signal }) => ask(api.GET('/api/projects', { signal })),
    staleTime: 60_000,
  });
}

export function useTrends(range: Range, paused: boolean) {
  const { days, windowSec, bucketSec, again } = RANGE[range];
  return useQuery({
    queryKey: ['viewer', 'trends', range],
    queryFn: async ({ signal }) => {
      const now = Date.now();
      const windows = Array.from({ length: days }, (_, back) => {
        const query = { windowSec, bucketSec, ...(back ? { to: String(now - back * windowSec * 1_000) } : {}) };
        return ask(api.GET('/api/ops/trends', { params: { query }, signal }));
      });
      const parts = (await Promise.all(windows)).reverse();
      return { buckets: parts.flatMap((part) => part.buckets), truncated: parts.some((part) => part.truncated) };
    },
    refetchInterval: paused ? false : again,
  });
}

export function useNewest(project: string, paused: boolean) {
  return useQuery({
    queryKey: ['viewer', 'newest', project],
    queryFn: ({ signal }) => {
      const query = { limit: NEWEST, ...(project ? { project } : {}) };
      return ask(api.GET('/api/memories/timeline', { params: { query }, signal }));
    },
    refetchInterval: paused ? false : 30_000,
  });
}

/** A search that leaves a trace, to be copied into a terminal; the command `codexmem search` leaves none. */
export function trySearch(): string {
  return `curl -s '${location.origin}/api/search?query=login'`;
}

type Query = Record<string, string | number | boolean>;

/** The filters of each list as the server spells them; an export takes the same. */
export const filtersOf = {
  traces: ({ query, mode, project, from, to }: ViewerState) =>
    given({ query, mode, project, from, to: endOf(to) }) as Query,
  timings: ({ session, type, success, from, to }: ViewerState) =>
    given({ sessionDbId: session, messageType: type, success, from, to: endOf(to) }) as Query,
  failures: (state: ViewerState) =>
    given({
      sessionDbId: state.session,
      messageType: state.type,
      errorClass: state.class,
      from: state.from,
      to: endOf(state.to),
    }) as Query,
};

const EXPORTS = { traces: 'search-traces', timings: 'session-timings', failures: 'failure-summary' } as const;

export function exportAddress(what: keyof typeof EXPORTS, state: ViewerState, format: 'csv' | 'ndjson'): string {
  const query = { ...filtersOf[what](state), format };
  const written = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
  return `/api/ops/${EXPORTS[what]}/export?${written}`;
}

type Row = { id: number; atEpoch: number };

/** The page after these rows: those of the same millisecond are asked for again and left out by their number. */
function cursorAfter(rows: readonly Row[]): string | null {
  const last = rows.at(-1);
  return last && rows.length >= PAGE ? `${last.atEpoch}.${last.id}` : null;
}

function before(cursor: string | null): { query: Query; keeps: (row: Row) => boolean } {
  if (!cursor) return { query: {}, keeps: () => true };
  const [at = '', id = ''] = cursor.split('.');
  return { query: { to: at }, keeps: (row) => row.id < Number(id) };
}

export type Looked = { scanned: number; truncated: boolean; averageMs?: number | null; averages?: Schemas['Averages'] };

/** Searches, newest first; each page tells how far the server looked. */
export function useTraces(state: ViewerState) {
  const filters = filtersOf.traces(state);
  return usePages<Trace & { looked: Looked }>(['viewer', 'traces', filters], async (cursor) => {
    const { query, keeps } = before(cursor);
    const asked = { ...filters, ...query, limit: PAGE };
    const answer = await ask(api.GET('/api/ops/search-traces', { params: { query: asked } }));
    const looked = { scanned: answer.scanned, truncated: answer.truncated, averageMs: answer.averageMs };
    const rows = answer.traces.filter(keeps).map((trace) => ({ ...trace, looked }));
    return { rows, next: cursorAfter(answer.traces) };
  });
}

/** How many searches came after this one; asked for now and then, because searches are not told live. */
export function useNewerTraces(state: ViewerState, newest: Trace | undefined) {
  const filters = filtersOf.traces(state);
  return useQuery({
    queryKey: ['viewer', 'newer-traces', JSON.stringify(filters), newest?.id ?? 0],
    queryFn: async ({ signal }) => {
      const query = { ...filters, ...(newest ? { from: String(newest.atEpoch) } : {}), limit: PAGE };
      const answer = await ask(api.GET('/api/ops/search-traces', { params: { query }, signal }));
      return answer.traces.filter((trace) => trace.id > (newest?.id ?? 0)).length;
    },
    enabled: !state.to && !state.from,
    refetchInterval: 4_000,
    staleTime: 0,
  });
}

export function useTrace(id: number | null) {
  return useQuery({
    queryKey: ['viewer', 'trace', id],
    queryFn: ({ signal }) => {
      const params = { path: { trace_id: id ?? 0 } };
      return ask(api.GET('/api/ops/search-traces/{trace_id}', { params, signal }));
    },
    enabled: id !== null,
    staleTime: 60_000,
  });
}

export type TimingsLooked = Pick<Schemas['TimingsAnswer'], 'averages' | 'succeeded' | 'failed' | 'truncated' | 'count'>;

export function useTimings(state: ViewerState) {
  const filters = filtersOf.timings(state);
  return usePages<Timing & { looked: TimingsLooked }>(['viewer', 'timings', filters], async (cursor) => {
    const { query, keeps } = before(cursor);
    const asked = { ...filters, ...query, limit: PAGE };
    const { timings, ...looked } = await ask(api.GET('/api/ops/session-timings', { params: { query: asked } }));
    return { rows: timings.filter(keeps).map((timing) => ({ ...timing, looked })), next: cursorAfter(timings) };
  });
}

export function useFailures(state: ViewerState, { limit = 500, paused = false } = {}) {
  const filters = filtersOf.failures(state);
  return useQuery({
    queryKey: ['viewer', 'failures', JSON.stringify(filters), limit],
    queryFn: ({ signal }) =>
      ask(api.GET('/api/ops/failure-summary', { params: { query: { ...filters, limit } }, signal })),
    refetchInterval: paused ? false : 60_000,
  });
}

/** Let failed jobs run again, of one session or all. */
export function useRetry() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (session: number | null) =>
      ask(api.POST('/api/ops/retry-failed', { body: session === null ? {} : { sessionDbId: session } })),
    onSettled: () =>
      client.invalidateQueries({ queryKey: ['viewer'], predicate: ({ queryKey }) => queryKey[1] !== 'traces' }),
  });
}

/** Ask anew for these things of the viewer. */
export function useRefresh() {
  const client = useQueryClient();
  return useCallback((thing: string) => void client.invalidateQueries({ queryKey: ['viewer', thing] }), [client]);
}
