// What a project's page asks for.
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, ask, type Schemas } from '@/api/client';
import type { Living } from '@/api/life';

export type NextContext = Schemas['ContextPreview'];
export type ContextLine = Schemas['ContextPreviewLine'];
export type ContextMemory = Schemas['ContextMemory'];
export type NotTold = Schemas['NotToldMemory'];
export type LineReason = Schemas['LineReason'];

const KINDS = ['observation', 'summary', 'prompt', 'note', 'qa', 'knowledge', 'lesson'] as const;

/** What an agent would be handed next: at its start or, with a prompt, then. */
export function nextContextQuery(project: string, prompt: string) {
  return queryOptions({
    queryKey: ['brief', 'next', project, prompt],
    queryFn: ({ signal }) =>
      ask(
        api.GET('/api/context/preview', {
          params: { query: { project, ...(prompt ? { prompt } : {}) } },
          signal,
        }),
      ),
    staleTime: 0,
    placeholderData: keepPreviousData,
  });
}

export const projectsQuery = queryOptions({
  queryKey: ['timeline', 'projects'],
  queryFn: async ({ signal }) => (await ask(api.GET('/api/projects', { signal }))).projects,
});

/** How many memories of all kinds a project has: the list of projects names those with captured ones. */
export function countQuery(project: string) {
  return queryOptions({
    queryKey: ['brief', 'count', project],
    queryFn: ({ signal }) =>
      ask(api.GET('/api/memories/count', { params: { query: { project, kind: [...KINDS] } }, signal })),
  });
}

/** A memory of a line as acts need it. */
export function livingOf({ seq, ref, kind, title, project, life, marks, origin }: ContextMemory): Living {
  return { seq, ref, kind, title, project, life, marks, origin };
}
