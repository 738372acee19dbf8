import { describe, expect, it } from 'vitest';
import type { Session, SessionEvent, SessionMemory, Turn } from './queries';
import { itemsOfSession, merged, stateOf, toolCounts } from './sessionItems';

function event(seq: number, tool: string): SessionEvent {
  return {
    seq,
    kind: tool ? 'tool' : 'stop',
    tool,
    at_ms: seq,
    agent: '',
    input: null,
    response: null,
    message: null,
    cut: false,
    kept: true,
    job: 1,
    observations: [],
  };
}

function memory(seq: number): SessionMemory {
  const empty = { type: '', title: '', snippet: '', tokens: 1, hidden: false };
  return { ref: `#${seq}`, seq, kind: 'observation', created_ms: seq, ...empty };
}

function turn(number: number, events: SessionEvent[], more: Partial<Turn> = {}): Turn {
  return {
    turn: number,
    started_ms: 1,
    ended_ms: 2,
    prompt: null,
    events,
    observations: [],
    summaries: [],
    injected: [],
    jobs: [],
    continues: false,
    ...more,
  };
}

describe('a session as a list', () => {
  it('puts the parts of one turn together', () => {
    const parts = [
      turn(1, [event(1, 'Read')], { continues: true, observations: [memory(10)], started_ms: 5 }),
      turn(1, [event(2, 'Bash')], { observations: [memory(10), memory(11)], ended_ms: 9, started_ms: 6 }),
      turn(2, [event(3, 'Bash')]),
    ];
    const whole = merged(parts);
    expect(whole.map((each) => each.turn)).toEqual([1, 2]);
    expect(whole[0]?.events.map((each) => each.seq)).toEqual([1, 2]);
    expect(whole[0]?.observations.map((each) => each.seq)).toEqual([10, 11]);
    expect([whole[0]?.started_ms, whole[0]?.ended_ms, whole[0]?.continues]).toEqual([5, 9, false]);
  });

  it('folds the events of a turn unless it is open', () => {
    const turns = [turn(1, [event(1, 'Read')], { observations: [memory(5)] }), turn(2, [])];
    const keys = (open: boolean) => itemsOfSession(turns, () => open).map((item) => item.key);
    expect(keys(false)).toEqual(['t1', 'g1', 'm5', 't2']);
    expect(keys(true)).toEqual(['t1', 'g1', 'e1', 'm5', 't2']);
  });

  it('counts tools, not the end of a turn', () => {
    expect(toolCounts([event(1, 'Read'), event(2, 'Bash'), event(3, 'Bash'), event(4, '')])).toEqual([
      ['Bash', 2],
      ['Read', 1],
    ]);
  });
});

describe('the state of a session', () => {
  const left = { status: 'completed', title: 'Fix the login', observations: 2, summaries: 1, hidden: 0 };
  const taken = { ...left, title: '', observations: 0, summaries: 0, hidden: 4 };
  it.each([
    ['completed', left],
    ['open', { ...left, status: 'active' }],
    ['undone', taken],
    ['completed', { ...taken, hidden: 0 }],
    ['completed', { ...taken, observations: 1 }],
    ['open', { ...taken, status: 'active' }],
  ])('is %s', (expected, session) => expect(stateOf(session as Session)).toBe(expected));
});
