import { describe, expect, it } from 'vitest';
import { Feed, KEPT } from './feed';

const event = (id: number, name = 'model.result') => ({ id: String(id), name, payload: { atEpoch: id } });
const keys = (rows: readonly { key: string }[]) => rows.map(({ key }) => key);

describe('the live list', () => {
  it('has the newest first, each once', () => {
    const feed = new Feed();
    [1, 2, 2, 3].forEach((id) => feed.take(event(id)));
    expect(keys(feed.view.rows)).toEqual(['3', '2', '1']);
    expect(feed.view.rows[0]?.at).toBe(3);
  });

  it('stands still while it is held, and misses nothing', () => {
    const feed = new Feed();
    feed.take(event(1));
    feed.hold(true);
    feed.take(event(2));
    feed.take(event(3));
    expect(keys(feed.view.rows)).toEqual(['1']);
    expect(keys(feed.view.waiting)).toEqual(['3', '2']);
    feed.flush();
    expect(keys(feed.view.rows)).toEqual(['3', '2', '1']);
    feed.take(event(4));
    expect(keys(feed.view.rows)).toEqual(['3', '2', '1']);
    feed.hold(false);
    expect(keys(feed.view.rows)).toEqual(['4', '3', '2', '1']);
    expect(feed.view.waiting).toEqual([]);
  });

  it('has no row for a state of the queue', () => {
    const feed = new Feed();
    feed.take({ id: '', name: 'queue.depth', payload: { queued: 0, running: 0, failed: 0 } });
    feed.take(event(5));
    expect(keys(feed.view.rows)).toEqual(['5']);
  });

  it('forgets the oldest, shown or waiting', () => {
    const feed = new Feed();
    feed.hold(true);
    for (let id = 1; id <= KEPT + 5; id += 1) feed.take(event(id));
    expect(feed.view.waiting.length).toBe(KEPT);
    feed.hold(false);
    feed.take(event(KEPT + 6));
    expect(feed.view.rows.length).toBe(KEPT);
    expect(feed.view.rows[0]?.key).toBe(String(KEPT + 6));
  });

  it('passes over what is no object', () => {
    const feed = new Feed();
    feed.take({ id: '1', name: 'odd', payload: 'text' });
    expect(feed.view.rows).toEqual([]);
  });
});
