// What the system page asks the server, and what it lets it do.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, ask, type Schemas } from '@/api/client';

export type Index = Schemas['IndexStatus'];
export type Outcomes = Schemas['Outcomes'];
export type Agent = Schemas['AgentAnswer'];
export type Backup = Schemas['BackupAnswer'];
export type Backups = Schemas['BackupsAnswer'];
export type Making = Schemas['MakingAnswer'];

const BACKFILL_STEP = 1_000;

/** While a backup is being made it is asked for often, so that its progress moves. */
export function useBackups() {
  return useQuery({
    queryKey: ['system', 'backups'],
    queryFn: ({ signal }) => ask(api.GET('/api/ops/backups', { signal })),
    refetchInterval: ({ state }) => (state.data?.running?.status === 'running' ? 500 : 60_000),
  });
}

/** A small backup is there with the answer; a large one goes on, and the list tells how far it is. */
export function useMakeBackup() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => {
      // The answer may take seconds; the list knows of the backup before.
      setTimeout(() => void client.invalidateQueries({ queryKey: ['system', 'backups'] }), 300);
      return ask(api.POST('/api/ops/backups'));
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['system'] }),
  });
}

export function useVerify() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => ask(api.POST('/api/ops/backups/{name}/verify', { params: { path: { name } } })),
    onSettled: () => client.invalidateQueries({ queryKey: ['system', 'backups'] }),
  });
}

export function useResetCounters() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => ask(api.POST('/api/ops/agent-metrics/reset')),
    onSettled: () => client.invalidateQueries({ queryKey: ['viewer', 'system'] }),
  });
}

export type Sent = { sent: number; reason: string | null };

/** Send every vector to the outside index once more, a step at a time; `told` hears how many were sent so far. */
export async function backfill(told: (sent: number) => void, signal: AbortSignal): Promise<Sent> {
  let sent = 0;
  let after: string | null = null;
  do {
    const body: Schemas['BackfillRequest'] = { limit: BACKFILL_STEP, ...(after ? { after } : {}) };
    const step: Schemas['BackfilledAnswer'] = await ask(api.POST('/api/ops/backfill/chroma', { body, signal }));
    if (step.skipped) return { sent, reason: step.reason ?? '' };
    sent += step.observations + step.summaries + step.prompts;
    after = step.next;
    told(sent);
  } while (after && !signal.aborted);
  return { sent, reason: null };
}
