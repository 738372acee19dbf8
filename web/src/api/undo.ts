// Taking back what a session, an import or a change wrote; that is itself a change, and can be taken back.
import { api, ask, type Schemas } from './client';

/** Whose writes are to be taken back. */
export type Whose = { source: string } | { delta: string };

export function undoPreview(whose: Whose, signal: AbortSignal): Promise<Schemas['UndoPreview']> {
  return ask(api.GET('/api/undo/preview', { params: { query: whose }, signal }));
}

/** What carries the text of what would be taken back, and what was written after it was told. */
export function undoTrail(whose: Whose, signal: AbortSignal): Promise<Schemas['UndoTrail']> {
  return ask(api.GET('/api/undo/trail', { params: { query: whose }, signal }));
}

/** Hides what carries the text of what was taken back; that is a change of its own. */
export function undoElsewhere(whose: Whose): Promise<Schemas['FollowAnswer']> {
  return ask(api.POST('/api/undo/follow', { body: { ...whose, all_after: false } }));
}

export type Undone = { delta: string | null; restored: number; left: number; lost: string[] };

/** Takes back all of it, however many calls that needs; `safe` leaves what others wrote since. */
export async function undo(whose: Whose, mode: 'safe' | 'strict'): Promise<Undone> {
  const done: Undone = { delta: null, restored: 0, left: 0, lost: [] };
  for (let after: number | null = 0; after !== null;) {
    const into = done.delta ? { into: done.delta } : {};
    const step: Schemas['UndoAnswer'] = await ask(api.POST('/api/undo', { body: { ...whose, mode, after, ...into } }));
    done.delta = step.delta ?? done.delta;
    done.restored += step.restored;
    done.left += step.left;
    done.lost.push(...step.lost_uris);
    after = step.after;
  }
  return done;
}
