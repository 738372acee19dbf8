// The creation form's fields and the limits that the server sets on them.
import type { Batch, BatchRequest } from '@/api/lab';
import { configOf } from '@/api/lab';

export const LIMITS = { request: 20_000, runs: 1_000, recipes: 50, temperature: 2, override: 1_000 } as const;
export const OVERRIDES = ['llm_model', 'openai_api_base', 'kb_principles_dir', 'kb_modulation_dir'] as const;
export type Override = (typeof OVERRIDES)[number];

export type Form = {
  request: string;
  runs: number | string;
  recipes: number | string;
  temperature: number | string;
  dryRun: boolean;
  overrides: Record<Override, string>;
};
export type Problem = 'requestMissing' | 'requestTooLong' | 'wholeNumber' | 'number' | 'tooLong';
export type Problems = Partial<Record<'request' | 'runs' | 'recipes' | 'temperature' | Override, Problem>>;

export const EMPTY: Form = {
  request: '',
  runs: 1,
  recipes: 3,
  temperature: 0.7,
  dryRun: false,
  overrides: { llm_model: '', openai_api_base: '', kb_principles_dir: '', kb_modulation_dir: '' },
};

/** What the server would refuse, field by field. Characters are counted as it counts them. */
export function problemsOf(form: Form): Problems {
  const found: Problems = {};
  if (!form.request.trim()) found.request = 'requestMissing';
  else if ([...form.request].length > LIMITS.request) found.request = 'requestTooLong';
  if (!whole(form.runs, LIMITS.runs)) found.runs = 'wholeNumber';
  if (!whole(form.recipes, LIMITS.recipes)) found.recipes = 'wholeNumber';
  const warmth = form.temperature;
  if (typeof warmth !== 'number' || !(warmth >= 0 && warmth <= LIMITS.temperature)) found.temperature = 'number';
  for (const name of OVERRIDES) if ([...form.overrides[name]].length > LIMITS.override) found[name] = 'tooLong';
  return found;
}

function whole(value: number | string, most: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most;
}

/** What is sent. Only for a form without problems. */
export function requestOf(form: Form): BatchRequest {
  const overrides = Object.fromEntries(OVERRIDES.map((name) => [name, form.overrides[name].trim()]));
  return {
    user_request: form.request,
    n_runs: Number(form.runs),
    recipes_per_run: Number(form.recipes),
    temperature: Number(form.temperature),
    dry_run: form.dryRun,
    overrides: overrides as Record<Override, string>,
    schema_version: 1,
    extra: {},
  };
}

/** The form that would ask for the same batch again. */
export function formOf(batch: Batch): Form {
  const overridden = configOf(batch)['overrides'];
  const given = (overridden ?? {}) as Partial<Record<Override, string>>;
  return {
    request: batch.user_request,
    runs: batch.n_runs,
    recipes: batch.recipes_per_run,
    temperature: batch.temperature,
    dryRun: batch.dry_run,
    overrides: { ...EMPTY.overrides, ...given },
  };
}

/** A key that nobody else uses; `randomUUID` is not there on a page over plain HTTP from another machine. */
export function freshKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
