// State in the address: what is written is what is read.
import { describe, expect, it } from 'vitest';
import { choice, count, flag, parseSearch, parseState, stringifySearch, text, writeState } from './searchState';

const SCHEMA = { tab: choice(['overview', 'traces'], 'overview'), q: text(), failed: flag(), v: count() };

describe('state in the address', () => {
  it('is at its defaults where nothing is written', () => {
    expect(parseState(SCHEMA, {})).toEqual({ tab: 'overview', q: '', failed: false, v: null });
  });

  it('falls back where something else is written', () => {
    const odd = parseState(SCHEMA, parseSearch('?tab=nothing&failed=yes&v=-3'));
    expect(odd).toEqual({ tab: 'overview', q: '', failed: false, v: null });
  });

  it('comes back as it was', () => {
    const state = { tab: 'traces', q: 'a & b=c 中文 "%', failed: true, v: 12 } as const;
    const written = stringifySearch(writeState(SCHEMA, {}, state));
    expect(parseState(SCHEMA, parseSearch(written))).toEqual(state);
  });

  it('leaves out defaults and keeps what it does not know', () => {
    const before = { tab: 'traces', q: 'x', other: '1' };
    expect(writeState(SCHEMA, before, { tab: 'overview', q: '' })).toEqual({ other: '1' });
  });

  it('keeps numbers and words as they are written', () => {
    expect(parseSearch('?q=007&v=7')).toEqual({ q: '007', v: '7' });
  });
});
