// What the pages of the lab ask the server, and the types of its answers.
import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, ask, type Answer } from '@/api/client';
import type { paths } from '@/api/schema';

export type Batch = Answer<'/api/v1/batches'>['items'][number];
export type Run = Answer<'/api/v1/runs'>['items'][number];
export type RunEvent = Answer<'/api/v1/runs/{run_id}/events'>['items'][number];
export type Evidence = Answer<'/api/v1/runs/{run_id}/evidence'>['items'][number];
export type BatchRequest = paths['/api/v1/batches']['post']['requestBody']['content']['application/json'];
export type LabStatus = Batch['status'];

export const STATUSES = ['queued', 'running', 'completed', 'failed', 'canceled'] as const;
export const BATCHES_PAGE = 50;
export const LARGEST_PAGE = 200; // what the server gives at most
const USED_MS = 60_000; // between two looks for the first of them
const LIVE_MS = 1_000; // between two looks at what still goes on

/** Whether nothing more will happen. */
export function ended(thing: { status: LabStatus }): boolean {
  return thing.status !== 'queued' && thing.status !== 'running';
}

/** The status as a person should read it: a cancel is only asked for until the thing has ended. */
export function shownStatus(thing: { status: LabStatus; cancel_id: string | null }): string {
  return thing.cancel_id !== null && !ended(thing) ? 'canceling' : thing.status;
}

/** With what a batch ran: the server's settings of that time and its overrides. */
export function configOf(batch: Batch): Record<string, unknown> {
  return batch.config_snapshot as Record<string, unknown>;
}

export function fetchBatches(cursor: string | null, status: readonly LabStatus[], q: string, limit = BATCHES_PAGE) {
  const query = { limit, cursor: cursor ?? '', q, status: [...status] };
  return ask(api.GET('/api/v1/batches', { params: { query } }));
}

/** Whether the lab was ever used: a batch, a lesson or a document is there. Most stores never have one. */
export const labUsedQuery = queryOptions({
  queryKey: ['lab', 'used'],
  queryFn: async ({ signal }) => {
    const params = { query: { limit: 1 } };
    if ((await ask(api.GET('/api/v1/batches', { params, signal }))).items.length) return true;
    if ((await ask(api.GET('/api/v1/memories', { params, signal }))).items.length) return true;
    return (await ask(api.GET('/api/v1/kb', { signal }))).items.length > 0;
  },
  refetchInterval: ({ state }) => (state.data ? false : USED_MS),
  staleTime: USED_MS,
});

export function useBatch(id: string, { live = true }: { live?: boolean } = {}) {
  return useQuery({
    queryKey: ['lab', 'batch', id],
    queryFn: async ({ signal }) => {
      const params = { path: { batch_id: id } };
      return (await ask(api.GET('/api/v1/batches/{batch_id}', { params, signal }))).batch;
    },
    enabled: id !== '',
    refetchInterval: ({ state }) => (live && state.data && !ended(state.data) ? LIVE_MS : false),
  });
}

export function fetchRuns(batchId: string, cursor: string | null, status: readonly LabStatus[]) {
  const query = { batch_id: batchId, limit: LARGEST_PAGE, cursor: cursor ?? '', status: [...status] };
  return ask(api.GET('/api/v1/runs', { params: { query } }));
}

export function useRun(id: string) {
  return useQuery({
    queryKey: ['lab', 'run', id],
    queryFn: ({ signal }) =>
      ask(api.GET('/api/v1/runs/{run_id}', { params: { path: { run_id: id } }, signal })).then((told) => told.run),
    refetchInterval: ({ state }) => (state.data && !ended(state.data) ? LIVE_MS : false),
  });
}

/** One event with its payload. A payload never changes, so it is asked for once. */
export function useEvent(runId: string, eventId: string) {
  return useQuery({
    queryKey: ['lab', 'event', runId, eventId],
    queryFn: ({ signal }) => {
      const path = { run_id: runId, event_id: eventId };
      return ask(api.GET('/api/v1/runs/{run_id}/events/{event_id}', { params: { path }, signal }));
    },
    staleTime: Infinity,
    gcTime: 60_000,
  });
}

export function fetchEvents(runId: string, cursor: string | null, signal: AbortSignal) {
  const params = { path: { run_id: runId }, query: { limit: LARGEST_PAGE, cursor: cursor ?? '' } };
  return ask(api.GET('/api/v1/runs/{run_id}/events', { params, signal }));
}

export function fetchOutput(runId: string) {
  return ask(api.GET('/api/v1/runs/{run_id}/output', { params: { path: { run_id: runId } } }));
}

export function useOutput(runId: string, enabled: boolean) {
  return useQuery({
    queryKey: ['lab', 'output', runId],
    queryFn: () => fetchOutput(runId),
    enabled,
    staleTime: Infinity,
  });
}

export function fetchEvidence(runId: string, cursor: string | null) {
  const params = { path: { run_id: runId }, query: { limit: LARGEST_PAGE, cursor: cursor ?? '' } };
  return ask(api.GET('/api/v1/runs/{run_id}/evidence', { params }));
}

export function usePiece(runId: string, alias: string) {
  return useQuery({
    queryKey: ['lab', 'piece', runId, alias],
    queryFn: ({ signal }) =>
      ask(api.GET('/api/v1/runs/{run_id}/evidence/{alias}', { params: { path: { run_id: runId, alias } }, signal })),
    staleTime: Infinity,
  });
}

export function useLesson(memId: string) {
  return useQuery({
    queryKey: ['lab', 'lesson', memId],
    queryFn: async ({ signal }) => {
      const params = { path: { mem_id: memId } };
      return (await ask(api.GET('/api/v1/memories/{mem_id}', { params, signal }))).memory;
    },
  });
}

export function cancelBatch(id: string) {
  const body = { reason: 'user_cancel' };
  return ask(api.POST('/api/v1/batches/{batch_id}/cancel', { params: { path: { batch_id: id } }, body }));
}

export function cancelRun(id: string) {
  const body = { reason: 'user_cancel' };
  return ask(api.POST('/api/v1/runs/{run_id}/cancel', { params: { path: { run_id: id } }, body }));
}

/** Asking twice with the same key and the same body makes one batch. */
export function createBatch(body: BatchRequest, key: string) {
  return ask(api.POST('/api/v1/batches', { params: { header: { 'Idempotency-Key': key } }, body }));
}

export function useRoles() {
  return useQuery({
    queryKey: ['bank', 'roles'],
    queryFn: ({ signal }) => ask(api.GET('/api/v1/reasoningbank/roles', { signal })).then((told) => told.roles),
    staleTime: Infinity,
  });
}

/** With `version`, only if that is still the lesson's. */
export function editLesson(id: string, body: { content?: string; role?: string; version?: number }) {
  const params = { path: { mem_id: id } };
  return ask(api.PATCH('/api/v1/memories/{mem_id}', { params, body })).then((told) => told.memory);
}

export function createLesson(body: { content: string; role: string }) {
  const written = { ...body, type: 'manual_note' as const, schema_version: 1, extra: {} };
  return ask(api.POST('/api/v1/memories', { body: written })).then((told) => told.memory);
}

/** How long a run or a batch took, or has taken until `now`; null before it began. In seconds since the epoch. */
export function tookMs(thing: { started_at: number | null; ended_at: number | null }, now: number): number | null {
  if (thing.started_at === null) return null;
  return ((thing.ended_at ?? now) - thing.started_at) * 1_000;
}
