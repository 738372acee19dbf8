// A session as one flat list: each turn, what was handed over in it, its tool events when they are unfolded, and what
// came of them.
import type { Injection, Session, SessionEvent, SessionMemory, Turn } from './queries';

export type SessionItem =
  | { kind: 'turn'; key: string; turn: Turn }
  | { kind: 'injected'; key: string; turn: Turn; injection: Injection }
  | { kind: 'events'; key: string; turn: Turn; open: boolean }
  | { kind: 'event'; key: string; turn: Turn; event: SessionEvent }
  | { kind: 'memory'; key: string; turn: Turn; memory: SessionMemory };

/** Turns whose events are on several pages, as one each. */
export function merged(parts: readonly Turn[]): Turn[] {
  const turns: Turn[] = [];
  for (const part of parts) {
    const last = turns.at(-1);
    if (!last || last.turn !== part.turn) turns.push(part);
    else turns[turns.length - 1] = joined(last, part);
  }
  return turns;
}

function joined(first: Turn, next: Turn): Turn {
  const both = <T, K>(one: readonly T[], other: readonly T[], keyOf: (each: T) => K): T[] => [
    ...new Map([...one, ...other].map((each) => [keyOf(each), each])).values(),
  ];
  return {
    ...first,
    started_ms: earliest(first.started_ms, next.started_ms),
    ended_ms: next.ended_ms ?? first.ended_ms,
    prompt: first.prompt ?? next.prompt,
    events: [...first.events, ...next.events],
    observations: both(first.observations, next.observations, (each) => each.seq),
    summaries: both(first.summaries, next.summaries, (each) => each.seq),
    injected: [...first.injected, ...next.injected],
    jobs: both(first.jobs, next.jobs, (each) => each.job),
    continues: next.continues,
  };
}

function earliest(one: number | null, other: number | null): number | null {
  return one === null ? other : other === null ? one : Math.min(one, other);
}

/** The lines of a session; `isOpen` says whether the tool events of a turn are shown. */
export function itemsOfSession(turns: readonly Turn[], isOpen: (turn: Turn) => boolean): SessionItem[] {
  return turns.flatMap((turn): SessionItem[] => {
    const open = isOpen(turn);
    const events: SessionItem[] = turn.events.length ? [{ kind: 'events', key: `g${turn.turn}`, turn, open }] : [];
    if (open)
      events.push(...turn.events.map((event) => ({ kind: 'event' as const, key: `e${event.seq}`, turn, event })));
    const memories = [...turn.observations, ...turn.summaries].sort(
      (a, b) => a.created_ms - b.created_ms || a.seq - b.seq,
    );
    return [
      { kind: 'turn', key: `t${turn.turn}`, turn },
      ...turn.injected.map((injection, at) => ({
        kind: 'injected' as const,
        key: `i${turn.turn}.${at}`,
        turn,
        injection,
      })),
      ...events,
      ...memories.map((memory) => ({ kind: 'memory' as const, key: `m${memory.seq}`, turn, memory })),
    ];
  });
}

/** How often each tool was used, most used first. */
export function toolCounts(events: readonly SessionEvent[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { kind, tool } of events) if (kind === 'tool') counts.set(tool, (counts.get(tool) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
}

/** Whether nothing of it is left to see, though it left something. */
export function isUndone({ title, observations, summaries, hidden }: Session): boolean {
  return hidden > 0 && !title && !observations && !summaries;
}

export function stateOf(session: Session): 'open' | 'completed' | 'undone' {
  if (session.status === 'active') return 'open';
  return isUndone(session) ? 'undone' : 'completed';
}
