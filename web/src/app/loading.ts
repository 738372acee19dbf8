// Parts of the application that could not be fetched: the server is away, or it was updated and the file is no more.
import { lazyRouteComponent } from '@tanstack/react-router';
import type { ReactNode } from 'react';

const failed = new WeakSet<Error>();

/** A page whose files did not come. The router would load the tab anew and show the browser's own error. */
class NotLoaded extends Error {
  override readonly name = 'NotLoaded';
}

// Vite tells here of every part that it could not fetch, before whoever asked for it is told.
window.addEventListener('vite:preloadError', ({ payload }) => failed.add(payload));

// What Chromium, Firefox and Safari say of a module that they could not fetch.
const UNFETCHED = /dynamically imported module|Importing a module script failed/i;

/** Whether this is what happens when a file of the application cannot be fetched. */
export function isNotLoaded(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  return thrown instanceof NotLoaded || failed.has(thrown) || UNFETCHED.test(thrown.message);
}

/** The component of a route, fetched when it is first shown. */
export function fetched<Name extends string>(load: () => Promise<Record<Name, () => ReactNode>>, name: Name) {
  return lazyRouteComponent(async () => {
    try {
      return await load();
    } catch (thrown) {
      throw isNotLoaded(thrown) ? new NotLoaded(String(thrown), { cause: thrown }) : thrown;
    }
  }, name);
}

/** Whether the server answers, and with another version of the application than the one that runs here. */
export async function standing(): Promise<'away' | 'same' | 'newer'> {
  const own = document.querySelector<HTMLScriptElement>('script[type=module][src]')?.getAttribute('src');
  try {
    const reply = await fetch('/viewer', { cache: 'no-store' });
    if (!reply.ok) return 'away';
    return own && (await reply.text()).includes(own) ? 'same' : 'newer';
  } catch {
    return 'away';
  }
}
