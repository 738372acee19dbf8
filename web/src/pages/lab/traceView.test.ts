import { expect, test } from 'vitest';
import type { RunEvent } from '@/api/lab';
import { barOf, countTypes, extentOf, parentOf, rowsOf, type TraceFilter } from './traceView';

const ALL: TraceFilter = { types: new Set(), failed: false, search: '', level: 'all', folded: new Set() };

function event(event_type: string, task: string | null = '0', more: Partial<RunEvent> = {}): RunEvent {
  return {
    event_id: `evt_${event_type}_${task}`,
    run_id: 'run_1',
    created_at: 10,
    event_type,
    payload: null,
    started_at: 10,
    duration_ms: null,
    depth: task === null ? null : (task.split('.').length - 1) / 2,
    task,
    parent_task: task === null ? null : parentOf(task),
    agent: 'orchestrator',
    label: null,
    failed: false,
    ...more,
  };
}

const TRACE = [
  event('run_started', null),
  event('llm_request'),
  event('recap_info'),
  event('kb_query', '0', { label: 'Copper SITES' }),
  event('recap_info', '0.2.1', { agent: 'mof_expert' }),
  event('kb_query', '0.2.1', { failed: true, label: 'no namespace' }),
  event('recap_info', '0.2.1.1.1'),
  event('llm_response', '0.2.1.1.1'),
  event('final_output', null),
];
const shown = (filter: Partial<TraceFilter>) => rowsOf(TRACE, { ...ALL, ...filter }).map((row) => row.event.event_type);

test('importance leaves out the how, then the what; failures are always shown', () => {
  expect(shown({})).toHaveLength(9);
  expect(shown({ level: 'steps' })).not.toContain('llm_request');
  const key = ['run_started', 'recap_info', 'recap_info', 'kb_query', 'recap_info', 'final_output'];
  expect(shown({ level: 'key' })).toEqual(key);
});

test('a model that has not answered yet is shown', () => {
  const asked = [event('run_started', null), event('llm_request'), event('llm_request')];
  expect(rowsOf(asked, { ...ALL, level: 'key' }).map((row) => row.event)).toEqual([asked[0], asked[2]]);
});

test('a type that was asked for is shown whatever its importance', () => {
  expect(shown({ level: 'key', types: new Set(['llm_request']) })).toEqual(['llm_request']);
});

test('failed only and search', () => {
  expect(shown({ failed: true })).toEqual(['kb_query']);
  expect(shown({ search: ' copper sites ' })).toEqual(['kb_query']);
  expect(shown({ search: 'evt_run_' })).toEqual(['run_started']);
  expect(shown({ search: 'mof_exp' })).toEqual(['recap_info']);
});

test('a folded subtask keeps its first row and hides what it handed down', () => {
  const rows = rowsOf(TRACE, { ...ALL, folded: new Set(['0.2.1']) });
  expect(rows.map((row) => row.event.task)).toEqual([null, '0', '0', '0', '0.2.1', null]);
  expect(rows[4]).toMatchObject({ opens: '0.2.1', depth: 1 });
  expect(rowsOf(TRACE, ALL).flatMap((row) => row.opens ?? [])).toEqual(['0.2.1', '0.2.1.1.1']);
});

test('bars lie on the time of the run', () => {
  const extent = extentOf({ started_at: 10, ended_at: 20 }, TRACE);
  const long = event('llm_response', '0', { started_at: 12, created_at: 15, duration_ms: 3_000 });
  expect(barOf(long, extent)).toEqual({ start: 0.2, width: 0.3 });
  const later = event('rb_job_started', null, { started_at: 900, created_at: 900 });
  expect(barOf(later, extent)).toEqual({ start: 1, width: 0 });
  expect(extentOf(undefined, [])).toEqual({ from: 0, seconds: 1 });
});

test('types are counted, the most frequent first', () => {
  expect(countTypes(TRACE)[0]).toEqual(['recap_info', 3]);
});
