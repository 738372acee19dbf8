// What the palette finds in memory, of every kind.
import { api, ask } from '@/api/client';

export type FoundMemory = { label: string; kind: string; title: string; excerpt: string; project: string };
export type Found = { rows: FoundMemory[]; notes: string[] };

const SHOWN = 8;

export async function findMemories(query: string, signal: AbortSignal): Promise<Found> {
  const told = await ask(api.GET('/api/search/all', { params: { query: { query, limit: SHOWN } }, signal }));
  const { results, notes } = told as { results?: FoundMemory[]; notes?: string[] };
  return { rows: results ?? [], notes: notes ?? [] };
}
