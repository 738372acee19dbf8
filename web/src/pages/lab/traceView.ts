// From the events of a trace to the rows that are shown: filters, importance, nesting and folding. Pure, and one pass
// over the events, because a trace may have a hundred thousand of them.
import type { RunEvent } from '@/api/lab';

export const LEVELS = ['key', 'steps', 'all'] as const;
export type Level = (typeof LEVELS)[number];

// How much somebody who looks for the story of a run cares: 1 turning points, 2 what was done, 3 how it was done.
const TIERS: Readonly<Record<string, 1 | 2 | 3>> = {
  run_started: 1,
  run_resumed: 1,
  run_failed: 1,
  run_canceled: 1,
  recap_info: 1,
  final_output: 1,
  rb_learn_completed: 1,
  rb_learn_failed: 1,
  rb_job_failed: 1,
  rb_rollback_completed: 1,
  llm_request: 3,
  kb_list: 3,
  mem_list: 3,
  citations_resolved: 3,
  memories_resolved: 3,
  rb_learn_queued: 3,
  rb_job_started: 3,
  rb_source_opened: 3,
  rb_learn_snapshot: 3,
};
const DEEPEST: Readonly<Record<Level, number>> = { key: 1, steps: 2, all: 3 };

export type TraceFilter = {
  types: ReadonlySet<string>;
  failed: boolean;
  search: string;
  level: Level;
  folded: ReadonlySet<string>;
};
export type TraceRow = {
  event: RunEvent;
  tier: 1 | 2 | 3;
  /** How far it is indented: the depth of its task. */
  depth: number;
  /** The subtask that begins with this row and can be folded; null elsewhere. */
  opens: string | null;
  /** Whether somebody else acts than in the row before. */
  speaks: boolean;
};

export function tierOf(event: RunEvent): 1 | 2 | 3 {
  return event.failed ? 1 : (TIERS[event.event_type] ?? 2);
}

const ID = 'evt_'; // whoever looks for one does not look for words
const written = new WeakMap<RunEvent, string[]>();

/** What a search looks through, place by place. A trace only grows, so what was made for its beginning is kept. */
function wordsOf(events: readonly RunEvent[]): readonly string[] {
  const first = events[0];
  if (!first) return [];
  const made = written.get(first) ?? [];
  written.set(first, made);
  for (let at = made.length; at < events.length; at += 1) {
    const { event_type: type, label, agent } = events[at] as RunEvent;
    made.push(`${type}\n${label ?? ''}\n${agent ?? ''}`.toLowerCase());
  }
  return made;
}

/** Whether the event at a place is what is searched for. */
function searching(events: readonly RunEvent[], search: string): (at: number) => boolean {
  if (!search) return () => true;
  if (search.startsWith(ID)) return (at) => events[at]?.event_id.startsWith(search) ?? false;
  const words = wordsOf(events);
  return (at) => words[at]?.includes(search) ?? false;
}

/** Whether a filter hides anything that the level alone would show. */
export function filters(filter: TraceFilter): boolean {
  return filter.types.size > 0 || filter.failed || filter.search.trim() !== '';
}

export function rowsOf(events: readonly RunEvent[], filter: TraceFilter): TraceRow[] {
  const found = searching(events, filter.search.trim().toLowerCase());
  const deepest = DEEPEST[filter.level];
  const begun = new Set<string>();
  const hidden = foldedAbove(filter.folded);
  const rows: TraceRow[] = [];
  let speaker: string | null = null;
  const last = events.at(-1);
  for (let at = 0; at < events.length; at += 1) {
    const event = events[at] as RunEvent;
    const tier = tierOf(event);
    // A type that was asked for by name is shown whatever its importance, and so is what happened last: a question to
    // a model that has not answered yet.
    if (filter.types.size ? !filter.types.has(event.event_type) : tier > deepest && event !== last) continue;
    if (filter.failed && !event.failed) continue;
    if (!found(at)) continue;
    const { task } = event;
    const subtask = task !== null && event.parent_task !== null;
    const opens = subtask && !begun.has(task) ? task : null;
    if (opens) begun.add(opens);
    // A folded subtask keeps its first row.
    if (subtask && filter.folded.size && (hidden(task) || (filter.folded.has(task) && opens === null))) continue;
    rows.push({ event, tier, depth: event.depth ?? 0, opens, speaks: event.agent !== null && event.agent !== speaker });
    speaker = event.agent ?? speaker;
  }
  return rows;
}

/** Whether a task was handed down by a folded one, near or far; each is looked at once. */
function foldedAbove(folded: ReadonlySet<string>): (task: string) => boolean {
  const known = new Map<string, boolean>();
  const above = (task: string): boolean => {
    let told = known.get(task);
    if (told === undefined) {
      const parent = parentOf(task);
      told = parent !== null && (folded.has(parent) || above(parent));
      known.set(task, told);
    }
    return told;
  };
  return above;
}

/** "0.2.1" was asked for by call 1 of reply 2 of task "0". */
export function parentOf(task: string): string | null {
  const parts = task.split('.');
  return parts.length > 2 ? parts.slice(0, -2).join('.') : null;
}

/** How many events there are of each type, the most frequent first. */
export function countTypes(events: readonly RunEvent[]): (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const { event_type } of events) counts.set(event_type, (counts.get(event_type) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
}

export type Extent = { from: number; seconds: number };

/** The time that the bars are drawn on: from the run's beginning to its end, or to the last event while it runs. */
export function extentOf(
  run: { started_at: number | null; ended_at: number | null } | undefined,
  events: readonly RunEvent[],
): Extent {
  const from = Math.min(run?.started_at ?? Infinity, events[0]?.started_at ?? Infinity);
  if (!Number.isFinite(from)) return { from: 0, seconds: 1 };
  // What is learned from a run comes days later: it must not squeeze the run into a corner.
  const to = run?.ended_at ?? events.at(-1)?.created_at ?? from;
  return { from, seconds: Math.max(to - from, 0.001) };
}

/** Where on the extent an event lies, in shares of its width. */
export function barOf(event: RunEvent, extent: Extent): { start: number; width: number } {
  const place = (at: number) => Math.min(1, Math.max(0, (at - extent.from) / extent.seconds));
  const start = place(event.started_at);
  return { start, width: event.duration_ms === null ? 0 : place(event.created_at) - start };
}
