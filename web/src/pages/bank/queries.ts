// What the pages of the ReasoningBank ask the server, and the types of its answers.
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { api, ApiError, ask, given, paged, type Answer } from '@/api/client';
import type { Living } from '@/api/life';
import type { PageOf } from '@/api/queries';
import type { paths } from '@/api/schema';

type LessonRow = Answer<'/api/v1/memories'>['items'][number];
export type Lesson = LessonRow & Living;
export type Job = Answer<'/api/v1/reasoningbank/jobs'>['items'][number];
export type DeltaRow = Answer<'/api/v1/reasoningbank/deltas'>['items'][number];
export type Delta = Awaited<ReturnType<typeof askDelta>>;
export type DeltaOp = Delta['ops'][number];
export type LessonState = DeltaOp['after'];
export type Preview = Awaited<ReturnType<typeof preview>>;
export type Prospect = Preview['changes'][number];
export type Feedback = Answer<'/api/v1/runs/{run_id}/feedback'>['feedback'];
type Saving = paths['/api/v1/runs/{run_id}/feedback']['put'];
export type FeedbackRequest = Saving['requestBody']['content']['application/json'];
export type OpName = DeltaOp['op'];

export const OPS = ['add', 'update', 'archive', 'restore', 'remove'] as const satisfies readonly OpName[];
export const TYPES = ['reasoningbank_item', 'manual_note'] as const;
export const SHELVES = ['active', 'archived'] as const;
export const JOB_STATUSES = ['queued', 'running', 'completed', 'failed', 'canceled'] as const;
export const LEARNED = 'rbd_'; // how deltas of learning and its rollback are named; others are acts of people
export const EVERYONE = 'global';
export const PAGE = 50;
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
    const keys = [['bank'], ['lab', 'lesson'], ['lab', 'run'], ['memory']];
    await Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey })));
  }, [client]);
}

export async function lessonPage(wish: LessonWish, cursor: string | null, limit = PAGE): Promise<PageOf<Lesson>> {
  const { role, type, status, q } = wish;
  const query = { query: q, role, type: type || null, status: status || null, limit, cursor: cursor ?? '' };
  const page = paged(await ask(api.GET('/api/v1/memories', { params: { query: given(query) } })));
  return { ...page, rows: page.rows.map((row) => ({ ...row, kind: 'lesson', ref: `mem:${row.mem_id}` })) };
}

export type JobStatus = Job['status'];

export async function jobPage(status: '' | JobStatus, cursor: string | null): Promise<PageOf<Job>> {
  const query = { status: status || null, limit: PAGE, cursor: cursor ?? '' };
  return paged(await ask(api.GET('/api/v1/reasoningbank/jobs', { params: { query: given(query) } })));
}

export type DeltaWish = { run: string; status: '' | DeltaRow['status'] };

export async function deltaPage({ run, status }: DeltaWish, cursor: string | null): Promise<PageOf<DeltaRow>> {
  const query = { run_id: run, status: status || null, limit: PAGE, cursor: cursor ?? '' };
  return paged(await ask(api.GET('/api/v1/reasoningbank/deltas', { params: { query: given(query) } })));
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

/** What a rollback would change now. */
export function preview(runId: string, deltaId: string, signal: AbortSignal) {
  const params = { path: { run_id: runId }, query: { delta_id: deltaId, mode: 'strict' as const } };
  return ask(api.GET('/api/v1/runs/{run_id}/reasoningbank/rollback/preview', { params, signal }));
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

const SHOWN = 8;

/**
 * Ids are long: a list shows enough of one to tell it from its neighbours; the whole is behind the link and the title.
 */
export function shortId(id: string): string {
  const [prefix = '', rest] = id.includes('_') ? id.split('_', 2) : ['', id];
  const short = (rest ?? '').slice(0, SHOWN);
  return prefix ? `${prefix}_${short}` : short;
}
