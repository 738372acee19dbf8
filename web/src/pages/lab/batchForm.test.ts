import { expect, test } from 'vitest';
import { EMPTY, freshKey, problemsOf, requestOf } from './batchForm';

const FORM = { ...EMPTY, request: 'Cu on TiO2' };

test('what the server would refuse is named', () => {
  expect(problemsOf(FORM)).toEqual({});
  expect(problemsOf({ ...FORM, request: ' \n' })).toEqual({ request: 'requestMissing' });
  expect(problemsOf({ ...FORM, request: '𠮷'.repeat(20_000) })).toEqual({});
  expect(problemsOf({ ...FORM, request: 'x'.repeat(20_001) })).toEqual({ request: 'requestTooLong' });
  const overrides = { ...FORM.overrides, llm_model: 'm'.repeat(1_001) };
  expect(problemsOf({ ...FORM, runs: 1_001, recipes: 1.5, temperature: '', overrides })).toEqual({
    runs: 'wholeNumber',
    recipes: 'wholeNumber',
    temperature: 'number',
    llm_model: 'tooLong',
  });
  expect(problemsOf({ ...FORM, temperature: 2.1 })).toEqual({ temperature: 'number' });
});

test('the request is spelled as the contract spells it', () => {
  const overrides = { ...FORM.overrides, llm_model: ' small ' };
  expect(requestOf({ ...FORM, runs: 4, dryRun: true, overrides })).toEqual({
    user_request: 'Cu on TiO2',
    n_runs: 4,
    recipes_per_run: 3,
    temperature: 0.7,
    dry_run: true,
    overrides: { llm_model: 'small', openai_api_base: '', kb_principles_dir: '', kb_modulation_dir: '' },
    schema_version: 1,
    extra: {},
  });
});

test('keys differ', () => expect(freshKey()).not.toBe(freshKey()));
