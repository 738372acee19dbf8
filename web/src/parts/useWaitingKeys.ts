// Keys that are pressed while the item they are meant for is still on its way: kept in their order and acted on when it
// is there, one for each item. An item that was decided about takes no further key, although it may still be in view.
import { useCallback, useEffect, useRef, type RefObject } from 'react';

const MOST = 50; // keys that wait: whoever rests a hand on the keyboard does not mean it

export type KeyQueue<A> = { keys: A[]; decided: string | null };

/** What waits on a page; it outlives the items. `over`: no further item will come, and nothing is kept for one. */
export function useKeyQueue<A>(over: boolean): RefObject<KeyQueue<A>> {
  const queue = useRef<KeyQueue<A>>({ keys: [], decided: null });
  useEffect(() => {
    if (over) queue.current.keys = [];
  }, [over]);
  return queue;
}

export function wait<A>({ current: { keys } }: RefObject<KeyQueue<A>>, action: A) {
  if (keys.length < MOST) keys.push(action);
}

/**
 * `item` names what is there, null while it is on its way. `run` tells whether it decided about the item, so that
 * another one follows.
 */
export function useWaitingKeys<A>(queue: RefObject<KeyQueue<A>>, item: string | null, run: (action: A) => boolean) {
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  const act = useCallback(
    (action: A) => {
      const waiting = queue.current;
      if (item === null || waiting.decided === item) wait(queue, action);
      else if (latest.current(action)) waiting.decided = item;
    },
    [item, queue],
  );
  useEffect(() => {
    const waiting = queue.current;
    const next = item === null ? undefined : waiting.keys.shift();
    if (next !== undefined) act(next);
    return () => {
      // It may come back, when what was decided is taken back or fails.
      if (waiting.decided === item) waiting.decided = null;
    };
  }, [item, queue, act]);
  return act;
}
