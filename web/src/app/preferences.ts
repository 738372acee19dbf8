// What a person chose for this browser: language, density, clock and single keys. Kept in local storage, told to every
// tab, and never sent to the server. The theme is Mantine's own.
import { useSyncExternalStore } from 'react';

export type Language = 'en' | 'zh';
export type Preferences = {
  language: Language | null; // null: as the browser says
  density: 'compact' | 'comfortable';
  clock: 'local' | 'utc';
  singleKeys: boolean;
};

const KEY = 'codexmem-preferences';
const DEFAULTS: Preferences = { language: null, density: 'comfortable', clock: 'local', singleKeys: true };
const listeners = new Set<() => void>();

let current = read();
addEventListener('storage', (event) => {
  if (event.key === KEY) adopt(read());
});

function read(): Preferences {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    return parsed(typeof kept === 'object' && kept !== null ? (kept as Record<string, unknown>) : {});
  } catch {
    return DEFAULTS;
  }
}

/** What a kept value means; anything unknown falls back to the default. */
export function parsed(kept: Record<string, unknown>): Preferences {
  const { language, density, clock, singleKeys } = kept;
  return {
    language: language === 'en' || language === 'zh' ? language : DEFAULTS.language,
    density: density === 'compact' ? density : DEFAULTS.density,
    clock: clock === 'utc' ? clock : DEFAULTS.clock,
    singleKeys: typeof singleKeys === 'boolean' ? singleKeys : DEFAULTS.singleKeys,
  };
}

function adopt(next: Preferences) {
  current = next;
  document.documentElement.dataset['density'] = next.density;
  listeners.forEach((tell) => tell());
}

export function preferences(): Preferences {
  return current;
}

export function prefer(change: Partial<Preferences>) {
  const next = { ...current, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // A browser without storage forgets with the tab; the choice still holds until then.
  }
  adopt(next);
}

export function onPreference(tell: () => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(onPreference, preferences);
}

document.documentElement.dataset['density'] = current.density;
