// What components use of the live stream: its state, its events, the queue's depth, and "n new" for lists.
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { liveStream, onStreamReplaced } from './browser';
import type { LiveEvent, LiveState } from './stream';

function subscribe(tell: () => void): () => void {
  let leave = liveStream().onState(tell);
  const stop = onStreamReplaced(() => {
    leave();
    leave = liveStream().onState(tell);
    tell();
  });
  return () => {
    stop();
    leave();
  };
}

export function useLiveState(): LiveState {
  return useSyncExternalStore(subscribe, () => liveStream().state);
}

/** Calls `take` with each event while mounted; with `names`, with those events only. */
export function useLiveEvents(take: (event: LiveEvent) => void, names?: readonly string[]) {
  const latest = useRef({ take, names });
  useEffect(() => {
    latest.current = { take, names };
  });
  useEffect(() => {
    const tell = (event: LiveEvent) => {
      if (!latest.current.names || latest.current.names.includes(event.name)) latest.current.take(event);
    };
    let leave = liveStream().onEvent(tell);
    const stop = onStreamReplaced(() => {
      leave();
      leave = liveStream().onEvent(tell);
    });
    return () => {
      stop();
      leave();
    };
  }, []);
}

export type Depth = { queued: number; running: number; failed: number };

/** The queue as the server last told it; null until it has. */
export function useQueueDepth(): Depth | null {
  const [depth, setDepth] = useState<Depth | null>(null);
  useLiveEvents((event) => setDepth(event.payload as Depth), ['queue.depth']);
  return depth;
}

/** How many events came since the list was last read: shown as "n new", so that the list does not move by itself. */
export function useFreshCount(concerns: (event: LiveEvent) => boolean): { fresh: number; clear: () => void } {
  const [fresh, setFresh] = useState(0);
  useLiveEvents((event) => {
    if (event.id && concerns(event)) setFresh((count) => count + 1);
  });
  return { fresh, clear: useCallback(() => setFresh(0), []) };
}
