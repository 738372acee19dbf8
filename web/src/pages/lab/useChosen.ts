// What is chosen in a list: at once for the eye, a moment later in the address. Somebody who holds down j passes many
// rows a second, more than a browser lets a page write into its address.
import { useCallback, useEffect, useRef, useState } from 'react';

const PAUSE_MS = 250;

export function useChosen(written: string, write: (name: string) => void): [string, (name: string) => void] {
  const [chosen, setChosen] = useState(written);
  const told = useRef(written);
  const latest = useRef(write);
  useEffect(() => {
    latest.current = write;
  });
  // A change of the address that is not ours: back, forward, a link.
  useEffect(() => {
    if (written === told.current) return;
    told.current = written;
    setChosen(written);
  }, [written]);
  useEffect(() => {
    if (chosen === told.current) return;
    const timer = setTimeout(() => {
      told.current = chosen;
      latest.current(chosen);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [chosen]);
  return [chosen, useCallback((name: string) => setChosen(name), [])];
}
