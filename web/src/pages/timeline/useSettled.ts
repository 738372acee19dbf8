// A choice that changes with every key: shown at once, and written to the address when it has settled.
import { useCallback, useEffect, useRef, useState } from 'react';

const SETTLES_MS = 200;

export function useSettled(kept: string, keep: (value: string) => void): readonly [string, (value: string) => void] {
  const [value, setValue] = useState(kept);
  const written = useRef(kept);
  // The address changed by other means: a link, the way back.
  useEffect(() => {
    if (kept === written.current) return;
    written.current = kept;
    setValue(kept);
  }, [kept]);
  useEffect(() => {
    if (value === written.current) return;
    const timer = setTimeout(() => {
      written.current = value;
      keep(value);
    }, SETTLES_MS);
    return () => clearTimeout(timer);
  }, [value, keep]);
  return [value, useCallback((next: string) => setValue(next), [])] as const;
}
