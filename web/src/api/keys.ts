// The API key of this browser, for servers that ask for one, and whether the server has asked.
import { useSyncExternalStore } from 'react';

const NAME = 'codexmem-key';
const listeners = new Set<() => void>();

let key: string | null = kept();
let asked = false;

function kept(): string | null {
  try {
    return sessionStorage.getItem(NAME) ?? localStorage.getItem(NAME);
  } catch {
    return null;
  }
}

function tell() {
  listeners.forEach((each) => each());
}

export function currentKey(): string | null {
  return key;
}

export function authorization(): Record<string, string> {
  return key ? { Authorization: `Bearer ${key}` } : {};
}

/** The server refused a request that carried this key; an answer to an older key says nothing about the new one. */
export function refused(sent: string | null) {
  if (sent !== key || asked) return;
  asked = true;
  tell();
}

/** Use this key from now on; one that is not remembered lives as long as the tab. */
export function takeKey(next: string, remember: boolean) {
  forgetKept();
  try {
    (remember ? localStorage : sessionStorage).setItem(NAME, next);
  } catch {
    // Without storage the key lives as long as the page.
  }
  key = next;
  asked = false;
  tell();
}

export function forgetKey() {
  forgetKept();
  key = null;
  tell();
}

function forgetKept() {
  try {
    sessionStorage.removeItem(NAME);
    localStorage.removeItem(NAME);
  } catch {
    // Nothing was kept.
  }
}

export function onKey(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useKeyAsked(): boolean {
  return useSyncExternalStore(onKey, () => asked);
}

export function useCurrentKey(): string | null {
  return useSyncExternalStore(onKey, currentKey);
}
