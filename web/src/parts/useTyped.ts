// A field that writes what was typed a moment later, so that the address changes per word and not per letter.
import { useEffect, useRef, useState } from 'react';

const PAUSE_MS = 200;

/** The text as typed, and how to change it; `commit` gets it after a pause. A change from outside is taken over. */
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
      told.current = typed;
      latest.current(typed);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return [typed, setTyped];
}
