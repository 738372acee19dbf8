// What a person chose for this browser: language, density, clock, single keys, project, saved views. Kept in local
// storage, told every tab, and never sent to the server. The theme is Mantine's own.
import { useSyncExternalStore } from 'react';

export type Language = 'en' | 'zh';
export type Preferences = {
  language: Language | null; // null: as the browser says
  density: 'compact' | 'comfortable';
  clock: 'local' | 'utc';
  singleKeys: boolean;
  project: string; // that was looked at last; empty: none
  views: readonly View[]; // addresses with names, in the order in which they were saved
};
/** A page with its filters, under a name of its own. */
export type View = { name: string; to: string };

const KEY = 'codexmem-preferences';
const DEFAULTS: Preferences = {
  language: null,
  density: 'comfortable',
  clock: 'local',
  singleKeys: true,
  project: '',
  views: [],
};
const MOST_VIEWS = 30;
const OUR_PAGE = /^\/(?:ui|viewer)(?:[/?]|$)/;
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
  const { language, density, clock, singleKeys, project, views } = kept;
  return {
    language: language === 'en' || language === 'zh' ? language : DEFAULTS.language,
    density: density === 'compact' ? density : DEFAULTS.density,
    clock: clock === 'utc' ? clock : DEFAULTS.clock,
    singleKeys: typeof singleKeys === 'boolean' ? singleKeys : DEFAULTS.singleKeys,
    project: typeof project === 'string' ? project : DEFAULTS.project,
    views: Array.isArray(views) ? views.filter(isView).slice(0, MOST_VIEWS) : DEFAULTS.views,
  };
}

function isView(kept: unknown): kept is View {
  const { name, to } = (kept ?? {}) as Record<string, unknown>;
  return typeof name === 'string' && name !== '' && typeof to === 'string' && OUR_PAGE.test(to);
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
