// Which part of the next context is named as full.
import { describe, expect, it } from 'vitest';
import { fullPart } from './limits';
import type { NextContext, NotTold } from './queries';

const told = {
  tokens: 641,
  budget: 2000,
  sections: [{ name: 'recent', tokens: 271, budget: 291 }],
} as unknown as NextContext;
const missed = (section: NotTold['section'], limit: number | null) => ({ section, limit }) as NotTold;

describe('a memory that had no room', () => {
  it('names the section and what that may cost', () => {
    expect(fullPart(missed('recent', 291), told)).toEqual({ section: 'recent', used: 271, limit: 291 });
  });

  it('names a section that holds nothing at all', () => {
    expect(fullPart(missed('pinned', 969), told)).toEqual({ section: 'pinned', used: 0, limit: 969 });
  });

  it('names no tokens where none may be spent, or memories are counted', () => {
    expect(fullPart(missed('recent', 0), told).limit).toBeNull();
    expect(fullPart(missed('relevant', null), told).limit).toBeNull();
  });

  it('names the whole where no section is', () => {
    expect(fullPart(missed(null, null), told)).toEqual({ section: null, used: 641, limit: 2000 });
  });
});
