// The trace of a run on its way into a page: the first events at once, more when they are wanted, and while the run
// goes on whatever comes, until its last event.
import { useEffect, useRef, useSyncExternalStore } from 'react';
import type { Trace, TraceReader } from './traceReader';

const FIRST = 2_000; // events that are read without being asked for
const FOLLOW_MS = 700;

/** What has been read so far. */
export function useTrace(reader: TraceReader): Trace {
  return useSyncExternalStore(reader.subscribe, reader.current);
}

type Wish = {
  /** The run has not ended: look again and again. */
  live: boolean;
  /** A filter, a search or an event in the address needs everything there is. */
  whole: boolean;
};

/** Reads while somebody looks, as far as is wished. */
export function useReading(reader: TraceReader, { live, whole }: Wish) {
  useEffect(() => {
    void reader.readTo(FIRST);
    return () => reader.pause();
  }, [reader]);
  useEffect(() => {
    if (!whole) return;
    void reader.readTo(Infinity);
    return () => reader.enough(FIRST);
  }, [reader, whole]);
  const wasLive = useRef(false);
  useEffect(() => {
    // Its last events were written when it ended, perhaps after the last look.
    if (!live && wasLive.current) void reader.follow();
    wasLive.current = live;
    if (!live) return;
    let timer: ReturnType<typeof setTimeout>;
    let over = false;
    const look = async () => {
      await reader.follow();
      if (!over) timer = setTimeout(() => void look(), FOLLOW_MS);
    };
    void look();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [reader, live]);
}
