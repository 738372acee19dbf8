// What of a note's page stands in the address, and how its parts change it.
import { choice, count, flag, text, type Field } from '@/app/searchState';

export const TABS = ['content', 'versions', 'aliases', 'relations'] as const;

export const NOTE_STATE = {
  tab: choice(TABS, 'content'),
  v: count(), // an earlier version, read in place of the current one
  diff: text(), // 2..3
  mode: choice(['', 'split', 'unified'], ''), // how a diff is drawn; by default as the screen's width suggests
  view: choice(['rendered', 'source'], 'rendered'),
  edit: flag(),
  why: flag(), // the drawer with its provenance
};

type StateOf<S> = { [K in keyof S]: S[K] extends Field<infer T> ? T : never };
export type NoteState = StateOf<typeof NOTE_STATE>;
export type SetNoteState = (change: Partial<NoteState>, options?: { replace?: boolean }) => void;
