// What the pages of notes ask the server to change. Each can be taken back; how, its answer says.
import { api, ask } from '@/api/client';

export type NewNote = { uri: string; content: string; priority: number; disclosure: string };
export function createNote(note: NewNote) {
  return ask(api.POST('/api/notes', { body: { ...note, title: '' } }));
}

export function addAlias(uri: string, alias: string) {
  return ask(api.POST('/api/notes/aliases', { body: { uri, alias } }));
}

export function removeAlias(uri: string, alias: string) {
  return ask(api.POST('/api/notes/aliases/remove', { body: { uri, alias } }));
}
