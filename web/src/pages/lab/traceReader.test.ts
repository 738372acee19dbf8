import { expect, test } from 'vitest';
import type { RunEvent } from '@/api/lab';
import { TraceReader, type EventPage } from './traceReader';

const PAGE = 3;

/** A server with so many events; `grow` adds some. */
function server(count: number) {
  const asked: number[] = [];
  let fails = 0;
  const fetchPage = async (cursor: string | null): Promise<EventPage> => {
    const from = Number(cursor ?? 0);
    asked.push(from);
    if (fails > 0) {
      fails -= 1;
      throw new Error('no answer');
    }
    const to = Math.min(from + PAGE, count);
    const items = Array.from({ length: to - from }, (_, index) => ({ event_id: `evt_${from + index}` }) as RunEvent);
    return { items, has_more: to < count, tail_cursor: to > 0 ? String(to) : cursor };
  };
  return { asked, fetchPage, grow: (by: number) => (count += by), failOnce: () => (fails = 1) };
}

const names = (reader: TraceReader) => reader.current().events.map((each) => each.event_id);

test('reads as far as wanted and no further', async () => {
  const { asked, fetchPage } = server(10);
  const reader = new TraceReader(fetchPage);
  await reader.readTo(4);
  expect(asked).toEqual([0, 3]);
  expect(reader.current()).toMatchObject({ more: true, reading: false, error: null });
  await reader.next();
  expect(names(reader)).toHaveLength(9);
});

test('follows what comes, each event once and in order', async () => {
  const { fetchPage, grow } = server(4);
  const reader = new TraceReader(fetchPage);
  await reader.follow();
  const before = reader.current().events;
  await reader.follow();
  expect(reader.current().events).toBe(before);
  grow(5);
  await reader.follow();
  expect(names(reader)).toEqual(Array.from({ length: 9 }, (_, index) => `evt_${index}`));
  expect(reader.current().more).toBe(false);
});

test('two who want to read do not read twice', async () => {
  const { asked, fetchPage } = server(7);
  const reader = new TraceReader(fetchPage);
  await Promise.all([reader.readTo(2), reader.follow(), reader.next()]);
  expect(names(reader)).toHaveLength(7);
  expect(asked).toEqual([0, 3, 6]);
});

test('an error is told, and the next attempt goes on where it stopped', async () => {
  const { fetchPage, failOnce } = server(5);
  const reader = new TraceReader(fetchPage);
  await reader.readTo(1);
  failOnce();
  await reader.follow();
  expect(reader.current().error).toBeInstanceOf(Error);
  expect(names(reader)).toHaveLength(3);
  await reader.follow();
  expect(reader.current().error).toBeNull();
  expect(names(reader)).toHaveLength(5);
});

test('a reader that was paused goes on where it was, and takes nothing twice', async () => {
  const { fetchPage } = server(9);
  const reader = new TraceReader(fetchPage);
  await reader.readTo(1);
  const stopped = reader.follow();
  reader.pause();
  await reader.follow();
  await stopped;
  expect(names(reader)).toEqual(Array.from({ length: 9 }, (_, index) => `evt_${index}`));
});

test('who has enough reads no further', async () => {
  const { asked, fetchPage } = server(30);
  const reader = new TraceReader(fetchPage);
  const reading = reader.readTo(Infinity);
  reader.enough();
  await reading;
  expect(asked).toEqual([0]);
});

test('a trace without events has none, and more can come', async () => {
  const { fetchPage, grow } = server(0);
  const reader = new TraceReader(fetchPage);
  await reader.follow();
  expect(names(reader)).toEqual([]);
  grow(2);
  await reader.follow();
  expect(names(reader)).toHaveLength(2);
});
