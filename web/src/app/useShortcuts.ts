// Keys that act on a page. Single keys are off while somebody types, inside dialogs, and where a person turned them
// off; each is listed in the help while the page that brought it is shown.
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { preferences } from './preferences';

export type Shortcut = {
  /** As `KeyboardEvent.key` tells it: "j", "?", "Enter"; two keys after one another with a space: "g v". */
  keys: string;
  label: string;
  run: (event: KeyboardEvent) => void;
  group?: 'everywhere' | 'here' | 'lists';
};

const SEQUENCE_MS = 1_200;
const registered = new Map<symbol, readonly Shortcut[]>();
const listeners = new Set<() => void>();
let listed: readonly Shortcut[] = [];
let first: { key: string; at: number } | null = null;

function changed() {
  listed = [...registered.values()].flat();
  listeners.forEach((tell) => tell());
}

/** Whether the key is meant for a field, a menu or a dialog. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.closest('[role=dialog],[role=menu],[role=listbox]')) return true;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button', 'submit'].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

/** The shortcut that a key means, given the key before it. Later registrations win: the page's over the frame's. */
export function meant(all: readonly Shortcut[], key: string, before: string | null): Shortcut | null {
  const sequence = before ? all.findLast((each) => each.keys === `${before} ${key}`) : undefined;
  return sequence ?? all.findLast((each) => each.keys === key) ?? null;
}

function onKey(event: KeyboardEvent) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (!preferences().singleKeys || isTyping(event.target)) return;
  // Enter and space belong to the button or link that has the focus.
  const own = event.target instanceof Element && event.target.closest('a,button,[tabindex="0"]');
  if (own && (event.key === 'Enter' || event.key === ' ')) return;
  const before = first && event.timeStamp - first.at < SEQUENCE_MS ? first.key : null;
  const found = meant(listed, event.key, before);
  first = listed.some((each) => each.keys.startsWith(`${event.key} `)) ? { key: event.key, at: event.timeStamp } : null;
  if (!found) return;
  event.preventDefault();
  first = null;
  found.run(event);
}

addEventListener('keydown', onKey);

/** These keys act while the component is mounted. */
export function useShortcuts(shortcuts: readonly Shortcut[]) {
  const latest = useRef(shortcuts);
  useEffect(() => {
    latest.current = shortcuts;
  });
  const shape = shortcuts.map((each) => `${each.keys}\n${each.label}`).join('\n\n');
  useEffect(() => {
    const id = Symbol();
    const bound = latest.current.map((each, index) => ({
      ...each,
      run: (event: KeyboardEvent) => latest.current[index]?.run(event),
    }));
    registered.set(id, bound);
    changed();
    return () => {
      registered.delete(id);
      changed();
    };
  }, [shape]);
}

export function useListedShortcuts(): readonly Shortcut[] {
  return useSyncExternalStore(
    (tell) => {
      listeners.add(tell);
      return () => listeners.delete(tell);
    },
    () => listed,
  );
}
