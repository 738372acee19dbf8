// Labels that memories are found by: of what type, about which file and concept, by which agent, written by whom.
import { queryOptions } from '@tanstack/react-query';
import { api, ask, type Schemas } from '@/api/client';
import type { Origin } from '@/api/life';
import { useOriginName } from './acts/LifeMarks';
import { useTypeWord } from './KindMark';

export const FACETS = ['type', 'file', 'concept', 'agent', 'origin'] as const;
export type Facet = (typeof FACETS)[number];
export type Facets = Schemas['BriefFacets'];
export type Chosen = Record<Facet, string>;
export type Span = { from: string; to: string };

export const NO_FACETS: Chosen = { type: '', file: '', concept: '', agent: '', origin: '' };
export const TYPES = ['bugfix', 'feature', 'refactor', 'change', 'discovery', 'decision'] as const;
export const ORIGINS: readonly Origin[] = ['human', 'agent', 'tool', 'import', 'git', 'model'];

const NAMES = 2; // of a path that are shown

/** The labels of a project's memories in a time, with their numbers. */
export function facetsQuery(project: string, span: Span) {
  return queryOptions({
    queryKey: ['brief', 'facets', project, span],
    queryFn: ({ signal }) => ask(api.GET('/api/brief/facets', { params: { query: { project, ...span } }, signal })),
  });
}

/** A value as people say it; of a path the end. */
export function useFacetWord(): (facet: Facet, value: string) => string {
  const type = useTypeWord();
  const origin = useOriginName();
  return (facet, value) => {
    if (facet === 'type') return type(value);
    if (facet === 'origin') return origin(value as Origin);
    if (facet !== 'file') return value;
    const names = value.split('/').filter(Boolean);
    return names.length > NAMES ? `…/${names.slice(-NAMES).join('/')}` : value;
  };
}

/** The list of memories with these labels. */
export function listOf(labels: Partial<Chosen> & { project?: string; from?: string; to?: string }): string {
  const kept = Object.entries(labels).filter(([, value]) => value);
  return `/ui/memories?${new URLSearchParams(Object.fromEntries(kept))}`;
}
