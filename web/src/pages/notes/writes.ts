// What the pages of notes ask the server to change. Each can be taken back; how, its answer says.
import { api, ApiError, ask } from '@/api/client';

export type NewNote = { uri: string; content: string; priority: number; disclosure: string };
export type SettableStatus = 'active' | 'deprecated' | 'archived';
export type NoteEdit = { content?: string; priority?: number; disclosure?: string; status?: SettableStatus };

export function createNote(note: NewNote) {
  return ask(api.POST('/api/notes', { body: { ...note, title: '' } }));
}

/** Refused with a conflict if somebody wrote since `seen`. */
export function updateNote(uri: string, edit: NoteEdit, seen: number) {
  return ask(api.POST('/api/notes/update', { body: { uri, ...edit, append: false, if_version: seen } }));
}

export function deleteNote(uri: string, seen: number) {
  return ask(api.POST('/api/notes/delete', { body: { uri, if_version: seen } }));
}

export function restoreNote(uri: string) {
  return ask(api.POST('/api/notes/restore', { body: { uri } }));
}

export function rollBackNote(uri: string, version: number, seen: number) {
  return ask(api.POST('/api/notes/rollback', { body: { uri, version, if_version: seen } }));
}

export function addAlias(uri: string, alias: string) {
  return ask(api.POST('/api/notes/aliases', { body: { uri, alias } }));
}

export function removeAlias(uri: string, alias: string) {
  return ask(api.POST('/api/notes/aliases/remove', { body: { uri, alias } }));
}

export function forgetForGood(seq: number) {
  return ask(api.POST('/api/forget', { body: { ids: [seq], preview: false } }));
}

export type TakenBack = { restored: number; left: number; lost: string[]; into: string | null };

/** Takes back a whole delta, however many calls that needs; `safe` leaves what others wrote since. */
export async function takeBack(delta: string, mode: 'safe' | 'strict'): Promise<TakenBack> {
  const sum: TakenBack = { restored: 0, left: 0, lost: [], into: null };
  for (let after: number | null = 0; after !== null;) {
    const body = { delta, mode, after, ...(sum.into ? { into: sum.into } : {}) };
    const done: Answer = await ask(api.POST('/api/undo', { body }));
    sum.restored += done.restored;
    sum.left += done.left;
    sum.lost.push(...done.lost_uris);
    sum.into = done.delta;
    after = done.after;
  }
  return sum;
}

type Answer = { restored: number; left: number; lost_uris: string[]; delta: string | null; after: number | null };

/** Whether a write was refused because of somebody else's, and the version that stands now. */
export function changedSince(error: unknown): number | null {
  if (!(error instanceof ApiError) || error.details['reason'] !== 'changed_since') return null;
  const { version } = error.details;
  return typeof version === 'number' ? version : null;
}
