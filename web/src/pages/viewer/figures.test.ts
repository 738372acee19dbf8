// @vitest-environment happy-dom
import { describe, expect, it } from 'vitest';
import { decimal, extentOf, fullLength, percent, segmentsOf, sharesOf, sparkPoints } from './figures';

describe('figures', () => {
  it('writes shares and sums', () => {
    expect(percent(0.3388, 'en')).toBe('34%');
    expect(percent(0.0373, 'en')).toBe('3.7%');
    expect(decimal(1.289, 'en')).toBe('1.29');
  });

  it('cuts giants only where they hide the rest', () => {
    expect(fullLength([])).toBe(0);
    expect(fullLength([10, 20, 30])).toBe(30);
    expect(fullLength([10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 900])).toBe(15);
  });
});

describe('why a result ranked where it did', () => {
  const factors = [
    { group: 'boost', share: 0.71 },
    { group: 'lexical', share: 0.2 },
    { group: 'lexical', share: 0.1 },
    { group: 'boost', share: -0.01 },
  ] as const;

  it('adds factors up by group', () => {
    const shares = sharesOf(factors);
    expect(shares.lexical).toBeCloseTo(0.3);
    expect(shares.boost).toBeCloseTo(0.7);
    expect(shares.vector).toBe(0);
  });

  it('draws what speaks for it right of zero and what speaks against it left', () => {
    const extent = extentOf([
      { lexical: 0.3, vector: 0, boost: 0.5 },
      { lexical: 0.2, vector: 0.1, boost: -0.2 },
    ]);
    expect(extent).toEqual({ above: 0.8, below: 0.2 });
    const segments = segmentsOf({ lexical: 0.2, vector: 0, boost: -0.2 }, extent);
    expect(segments.map(({ group, negative }) => [group, negative])).toEqual([
      ['lexical', false],
      ['boost', true],
    ]);
    expect(segments[0]?.start).toBeCloseTo(20);
    expect(segments[0]?.length).toBeCloseTo(20);
    expect(segments[1]?.start).toBeCloseTo(0);
  });

  it('draws nothing where there is nothing', () => {
    expect(segmentsOf({ lexical: 0, vector: 0, boost: 0 }, { above: 0, below: 0 })).toEqual([]);
  });
});

it('a small line reaches from edge to edge', () => {
  expect(sparkPoints([0, 2, 1], 100, 10)).toBe('0.0,10.0 50.0,0.0 100.0,5.0');
  expect(sparkPoints([0, 0], 100, 10)).toBe('0.0,10.0 100.0,10.0');
});
