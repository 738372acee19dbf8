// What the pages of the ReasoningBank ask the server, and the types of its answers.
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { api, ask, ApiError } from '@/api/client';
import type { PageOf } from '@/api/queries';
import type { paths } from '@/api/schema';

type Answer<P extends keyof paths> = paths[P] extends {
  get: { responses: { 200: { content: { 'application/json': infer T } } } };
}
  ? T
  : never;

export type Lesson = Answer<'/api/v1/memories'>['items'][number];
export type LessonVersion = Answer<'/api/v1/memories/{mem_id}/versions'>['items'][number];
export type Job = Answer<'/api/v1/reasoningbank/jobs'>['items'][number];
export type DeltaRow = Answer<'/api/v1/reasoningbank/deltas'>['items'][number];
export type Delta = Awaited<ReturnType<typeof askDelta>>;
export type DeltaOp = Delta['ops'][number];
export type LessonState = DeltaOp['after'];
export type Preview = Awaited<ReturnType<typeof askPreview>>;
export type Prospect = Preview['changes'][number];
export type Feedback = Answer<'/api/v1/runs/{run_id}/feedback'>['feedback'];
type Saving = paths['/api/v1/runs/{run_id}/feedback']['put'];
export type FeedbackRequest = Saving['requestBody']['content']['application/json'];
export type OpName = DeltaOp['op'];

export const OPS = ['add', 'update', 'archive', 'restore', 'remove'] as const satisfies readonly OpName[];
export const TYPES = ['reasoningbank_item', 'manual_note'] as const;
export const SHELVES = ['active', 'archived'] as const;
export const JOB_STATUSES = ['queued', 'running', 'completed', 'failed', 'canceled'] as const;
export const EVERYONE = 'global';
export const PAGE = 50;
export const MOST_CONTENT = 20_000; // characters of a lesson
const BUSY_MS = 700;
const WATCH_MS = 5_000;

export type LessonWish = {
  role: string;
  type: '' | (typeof TYPES)[number];
  status: '' | (typeof SHELVES)[number];
  q: string;
};

/** Everything of the bank is asked for anew: one write may change lists, deltas and lessons. */
export function useBankChanged() {
  const client = useQueryClient();
  return useCallback(async () => {
    const keys = [['bank'], ['lab', 'lesson'], ['lab', 'run'], ['notes', 'provenance']];
    await Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey })));
  }, [client]);
}

export async function lessonPage(wish: LessonWish, cursor: string | null, limit = PAGE): Promise<PageOf<Lesson>> {
  const { role, type, status, q } = wish;
  const query = { query: q, role, type: type || null, status: status || null, limit, cursor: cursor ?? '' };
  const told = await ask(api.GET('/api/v1/memories', { params: { query: given(query) } }));
  return { rows: told.items, next: told.next_cursor };
}

export function lessonQuery(id: string) {
  return queryOptions({
    queryKey: ['bank', 'lesson', id],
    queryFn: async ({ signal }) => {
      const params = { path: { mem_id: id } };
      return (await ask(api.GET('/api/v1/memories/{mem_id}', { params, signal }))).memory;
    },
    refetchInterval: ({ state }) => (state.status === 'success' ? WATCH_MS : false),
  });
}

export async function versionPage(id: string, cursor: string | null): Promise<PageOf<LessonVersion>> {
  const params = { path: { mem_id: id }, query: { limit: PAGE, cursor: cursor ?? '' } };
  const told = await ask(api.GET('/api/v1/memories/{mem_id}/versions', { params }));
  return { rows: told.items, next: told.next_cursor };
}

export function useRoles() {
  return useQuery({
    queryKey: ['bank', 'roles'],
    queryFn: ({ signal }) => ask(api.GET('/api/v1/reasoningbank/roles', { signal })).then((told) => told.roles),
    staleTime: Infinity,
  });
}

export function createNote(body: { content: string; role: string }) {
  const written = { ...body, type: 'manual_note' as const, schema_version: 1, extra: {} };
  return ask(api.POST('/api/v1/memories', { body: written })).then((told) => told.memory);
}

export type LessonEdit = { content?: string; role?: string; status?: 'active' | 'archived'; version?: number };

export function editLesson(id: string, body: LessonEdit) {
  const params = { path: { mem_id: id } };
  return ask(api.PATCH('/api/v1/memories/{mem_id}', { params, body })).then((told) => told.memory);
}

export function archiveLesson(id: string) {
  return ask(api.POST('/api/v1/memories/{mem_id}/archive', { params: { path: { mem_id: id } } }));
}

export type JobStatus = Job['status'];

export async function jobPage(status: '' | JobStatus, cursor: string | null): Promise<PageOf<Job>> {
  const query = { status: status || null, limit: PAGE, cursor: cursor ?? '' };
  const told = await ask(api.GET('/api/v1/reasoningbank/jobs', { params: { query: given(query) } }));
  return { rows: told.items, next: told.next_cursor };
}

export type DeltaWish = { run: string; status: '' | DeltaRow['status'] };

export async function deltaPage({ run, status }: DeltaWish, cursor: string | null): Promise<PageOf<DeltaRow>> {
  const query = { run_id: run, status: status || null, limit: PAGE, cursor: cursor ?? '' };
  const told = await ask(api.GET('/api/v1/reasoningbank/deltas', { params: { query: given(query) } }));
  return { rows: told.items, next: told.next_cursor };
}

async function askDelta(id: string, signal: AbortSignal) {
  const params = { path: { delta_id: id } };
  return (await ask(api.GET('/api/v1/reasoningbank/deltas/{delta_id}', { params, signal }))).delta;
}

export function deltaQuery(id: string) {
  return queryOptions({
    queryKey: ['bank', 'delta', id],
    queryFn: ({ signal }) => askDelta(id, signal),
    refetchInterval: ({ state }) => (state.status === 'success' ? WATCH_MS : false),
  });
}

/** The learnings of a run, newest first; looked at often while one is on its way. */
export function jobsQuery(runId: string) {
  return queryOptions({
    queryKey: ['bank', 'jobs-of', runId],
    queryFn: async ({ signal }) => {
      const params = { path: { run_id: runId }, query: { limit: 20 } };
      return (await ask(api.GET('/api/v1/runs/{run_id}/reasoningbank/jobs', { params, signal }))).jobs;
    },
    refetchInterval: ({ state }) => (state.data?.some(active) ? BUSY_MS : WATCH_MS),
  });
}

/** Whether it has not ended. */
export function active(job: { status: JobStatus }): boolean {
  return job.status === 'queued' || job.status === 'running';
}

export function learn(runId: string) {
  return ask(api.POST('/api/v1/runs/{run_id}/reasoningbank/learn', { params: { path: { run_id: runId } } }));
}

/** What a rollback would change now; never remembered, because somebody may write while the dialog is open. */
function askPreview(runId: string, deltaId: string, signal: AbortSignal) {
  const params = { path: { run_id: runId }, query: { delta_id: deltaId, mode: 'strict' as const } };
  return ask(api.GET('/api/v1/runs/{run_id}/reasoningbank/rollback/preview', { params, signal }));
}

export function previewQuery(runId: string, deltaId: string) {
  return queryOptions({
    queryKey: ['bank', 'preview', runId, deltaId],
    queryFn: ({ signal }) => askPreview(runId, deltaId, signal),
    staleTime: 0,
    gcTime: 0,
    refetchInterval: WATCH_MS,
  });
}

export function rollBack(runId: string, deltaId: string) {
  const body = { delta_id: deltaId, mode: 'strict' as const, relearn: false, reason: '' };
  return ask(api.POST('/api/v1/runs/{run_id}/reasoningbank/rollback', { params: { path: { run_id: runId } }, body }));
}

/** What was said about a run; null while nothing was. */
export function feedbackQuery(runId: string) {
  return queryOptions({
    queryKey: ['bank', 'feedback', runId],
    queryFn: async ({ signal }): Promise<Feedback | null> => {
      try {
        const params = { path: { run_id: runId } };
        return (await ask(api.GET('/api/v1/runs/{run_id}/feedback', { params, signal }))).feedback;
      } catch (thrown) {
        if (thrown instanceof ApiError && thrown.status === 404) return null;
        throw thrown;
      }
    },
  });
}

export function saveFeedback(runId: string, body: FeedbackRequest, learnAfter: boolean) {
  const params = { path: { run_id: runId }, query: { learn: learnAfter } };
  return ask(api.PUT('/api/v1/runs/{run_id}/feedback', { params, body }));
}

/** How many learnings wait or run, for the navigation. */
export function useLearningsUnderWay() {
  return useQuery({
    queryKey: ['bank', 'under-way'],
    queryFn: async ({ signal }) => {
      const { queue } = await ask(api.GET('/api/v1/system/worker', { signal }));
      return (queue.rb_jobs_by_status['queued'] ?? 0) + (queue.rb_jobs_by_status['running'] ?? 0);
    },
    refetchInterval: WATCH_MS,
  });
}

/** The role of a state as the store keeps it; a lesson that names none is for everyone. */
export function roleOf(state: LessonState): string {
  const { role } = state.attrs as { role?: unknown };
  return typeof role === 'string' && role ? role : EVERYONE;
}

/** Only what was asked for: an empty parameter is none. */
function given<T extends Record<string, unknown>>(query: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const kept = Object.entries(query).filter(([, value]) => value !== '' && value !== null);
  return Object.fromEntries(kept) as { [K in keyof T]?: NonNullable<T[K]> };
}
