// The newest events of the live stream, kept while the application is open, so that coming back to the viewer shows
// what happened meanwhile. While it is held, new events wait beside the list instead of moving it.
import { useSyncExternalStore } from 'react';
import { liveStream, onStreamReplaced } from '@/live/browser';
import type { LiveEvent } from '@/live/stream';

export const KEPT = 500;

export type FeedRow = { key: string; at: number; name: string; payload: Record<string, unknown> };
export type FeedView = { rows: readonly FeedRow[]; waiting: readonly FeedRow[] };

const NOTHING: FeedView = { rows: [], waiting: [] };

export class Feed {
  view: FeedView = NOTHING;
  private held = false;
  private readonly listeners = new Set<() => void>();

  take(event: LiveEvent) {
    const row = rowOf(event);
    if (!row) return;
    const { rows, waiting } = this.view;
    this.show(this.held ? { rows, waiting: added(row, waiting) } : { rows: added(row, rows), waiting });
  }

  /** Let new events wait, or let them in again together with those that waited. */
  hold(held: boolean) {
    if (this.held === held) return;
    this.held = held;
    if (!held) this.flush();
  }

  /** Let in what waits; what comes later waits again if it did before. */
  flush() {
    const { rows, waiting } = this.view;
    if (waiting.length) this.show({ rows: [...waiting, ...rows].slice(0, KEPT), waiting: [] });
  }

  clear() {
    this.show(NOTHING);
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private show(view: FeedView) {
    this.view = view;
    this.listeners.forEach((tell) => tell());
  }
}

/** What happened has a number; what has none is a state, which the figures of the page show. */
function rowOf({ id, name, payload }: LiveEvent): FeedRow | null {
  if (!id || typeof payload !== 'object' || payload === null) return null;
  const told = payload as Record<string, unknown>;
  return { key: id, at: typeof told['atEpoch'] === 'number' ? told['atEpoch'] : Date.now(), name, payload: told };
}

function added(row: FeedRow, rows: readonly FeedRow[]): FeedRow[] {
  return rows.some(({ key }) => key === row.key) ? [...rows] : [row, ...rows].slice(0, KEPT);
}

export const feed = new Feed();
let leave: (() => void) | null = null;

/** Begin to listen, once and for all; a stream of another key begins with an empty list. */
export function listen() {
  if (leave) return;
  leave = liveStream().onEvent((event) => feed.take(event));
  onStreamReplaced(() => {
    leave?.();
    feed.clear();
    leave = liveStream().onEvent((event) => feed.take(event));
  });
}

export function useFeed(): FeedView {
  return useSyncExternalStore(subscribe, () => feed.view);
}

function subscribe(tell: () => void): () => void {
  return feed.onChange(tell);
}
