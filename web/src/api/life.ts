// The life of memories of every kind: what is known of one, and the acts that change it. Each act is one delta.
import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { api, ask, type Schemas } from './client';

export type Kind = Schemas['Kind'];
export type Life = Schemas['Life'];
export type Mark = Schemas['Mark'];
export type Act = Schemas['Act'];
export type Origin = Schemas['Origin'];

/** A memory as far as acts and labels need it. */
export type Living = {
  seq: number;
  ref: string;
  kind: Kind;
  title: string;
  project: string;
  life: Life;
  marks: readonly Mark[];
  origin: Origin;
};

export type Change = { act: Act } & Partial<Omit<Schemas['ActBody'], 'ids' | 'act'>>;

export const MOST_AT_ONCE = 200; // memories of one act

export function act(change: Change, seqs: readonly number[]) {
  return ask(api.POST('/api/memories/act', { body: { parts: [], reason: '', ...change, ids: [...seqs] } }));
}

/** Tags of a question with its answer are changed by the interface of its own kind. */
export function correctQa(id: string, { title, text, tags, seen }: Partial<Change> & { tags?: string[] | undefined }) {
  const given = Object.entries({ question: title, answer: text, tags, version: seen });
  const body = Object.fromEntries(given.filter(([, value]) => value !== undefined && value !== null));
  return ask(api.PATCH('/v1/qa/items/{qa_id}', { params: { path: { qa_id: id } }, body }));
}

/** Everything that is stored of one memory now, hidden or not. */
export function memoryQuery(ref: string) {
  return queryOptions({
    queryKey: ['life', 'memory', ref],
    queryFn: ({ signal }) => ask(api.GET('/api/memories/named/{ref}', { params: { path: { ref } }, signal })),
    staleTime: 0,
  });
}

export type WholeMemory = Omit<Schemas['FullMemory'], 'links'>;

export function livingOf(memory: WholeMemory): Living {
  const { seq, label, kind, title, project, life, marks, origin, uris, content, attrs } = memory;
  const asked = typeof attrs['question'] === 'string' ? attrs['question'] : '';
  const ref = uris[0] ?? label.replace(/^(?:note|qa) /, '');
  return { seq, ref, kind, title: title || asked || headOf(content), project, life: life ?? 'active', marks, origin };
}

/** What is to be forgotten: some memories, or a session with everything in it. */
export type Forgettable = { ids: number[] } | { sessionDbId: number };

/** With `follow` also what carries its text: other memories, traces of searches, captured events. */
export function forgetting(what: Forgettable, asked: { preview: boolean; follow: boolean }) {
  return ask(api.POST('/api/forget', { body: { ...what, ...asked, all_after: false } }));
}

const HEAD = 80; // characters of a text that stand for a title

function headOf(text: string): string {
  const [line = ''] = text.trim().split('\n');
  return line.length > HEAD ? `${line.slice(0, HEAD - 1)}…` : line;
}

/** After an act or its undoing: what is in view is asked for again, the rest when it is next looked at. */
export function useMemoriesChanged(): () => Promise<void> {
  const client = useQueryClient();
  return useCallback(async () => {
    client.removeQueries({ queryKey: ['timeline'], type: 'inactive' });
    await client.invalidateQueries();
  }, [client]);
}
