// Page state that lives in the address, flat and readable: ?tab=traces&failed=1. Back, forward, reload and a shared
// link restore it. What is at its default is left out.
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo, useRef } from 'react';

export type Field<T> = { initial: T; parse: (text: string) => T; write: (value: T) => string };
export type Schema<T> = { [K in keyof T]: Field<T[K]> };

/** Any text; empty by default. */
export function text(initial = ''): Field<string> {
  return { initial, parse: (written) => written, write: (value) => value };
}

/** One of several words; anything else means the first of them, or `initial`. */
export function choice<const T extends string>(words: readonly T[], initial: T): Field<T> {
  return { initial, parse: (written) => words.find((word) => word === written) ?? initial, write: (value) => value };
}

/** Yes or no: `?failed=1`. */
export function flag(): Field<boolean> {
  return { initial: false, parse: (written) => written === '1', write: (value) => (value ? '1' : '') };
}

/** A whole number, or none. */
export function count(): Field<number | null> {
  const parse = (written: string) => (/^\d{1,15}$/.test(written) ? Number(written) : null);
  return { initial: null, parse, write: (value) => (value === null ? '' : String(value)) };
}

export function parseState<T extends object>(schema: Schema<T>, search: Record<string, unknown>): T {
  const state: Partial<T> = {};
  for (const name of namesOf(schema)) {
    const written = search[name];
    state[name] = typeof written === 'string' ? schema[name].parse(written) : schema[name].initial;
  }
  return state as T;
}

/** The search parameters after a change; parameters that the schema does not know stay. */
export function writeState<T extends object>(
  schema: Schema<T>,
  search: Record<string, unknown>,
  change: Partial<NoInfer<T>>,
): Record<string, string> {
  const next: Record<string, string> = {};
  for (const [name, value] of Object.entries(search)) if (typeof value === 'string') next[name] = value;
  for (const name of namesOf(schema)) {
    const value = change[name];
    if (value === undefined) continue;
    const written = schema[name].write(value);
    if (written === '' || written === schema[name].write(schema[name].initial)) delete next[name];
    else next[name] = written;
  }
  return next;
}

function namesOf<T extends object>(schema: Schema<T>): (keyof T & string)[] {
  return Object.keys(schema) as (keyof T & string)[];
}

export function parseSearch(written: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(written));
}

export function stringifySearch(search: Record<string, unknown>): string {
  const kept = Object.entries(search).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const written = new URLSearchParams(kept.map(([name, value]) => [name, String(value)])).toString();
  return written ? `?${written}` : '';
}

/**
 * The page's state and how to change it. `set` adds a step to the history unless `replace` is given (typing, moving
 * through a list). The schema must be a constant outside the component.
 */
export function useSearchState<T extends object>(schema: Schema<T>) {
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const state = useMemo(() => parseState(schema, search), [schema, search]);
  const go = useRef(navigate);
  go.current = navigate;
  const set = useCallback(
    (change: Partial<T>, { replace = false }: { replace?: boolean } = {}) => {
      const next = (before: Record<string, unknown>) => writeState(schema, before, change);
      void go.current({ to: '.', search: next as never, replace, resetScroll: false });
    },
    [schema],
  );
  return [state, set] as const;
}
