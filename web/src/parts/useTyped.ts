// What changes with every key is shown at once and written a moment later: the address changes per word and not per
// letter, and once for many rows that somebody passes with j held down, which is as often as a browser lets it.
import { useEffect, useRef, useState } from 'react';

const PAUSE_MS = 200;

/** The text as typed or chosen, and how to change it; `commit` gets it after a pause. What changes it from outside
 * (back, forward, a link, "clear filters") is taken over. */
export function useTyped(value: string, commit: (text: string) => void): [string, (text: string) => void] {
  const [typed, setTyped] = useState(value);
  const told = useRef(value);
  const latest = useRef(commit);
  useEffect(() => {
    latest.current = commit;
  });
  useEffect(() => {
    if (value === told.current) return;
    told.current = value;
    setTyped(value);
  }, [value]);
  useEffect(() => {
    if (typed === told.current) return;
    const timer = setTimeout(() => {
      told.current = typed.trim();
      latest.current(told.current);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return [typed, setTyped];
}
