import { describe, expect, it } from 'vitest';
import type { Living } from '@/api/life';
import { mergeable, offeredFor } from './offered';

const memory: Living = {
  ...{ seq: 1, ref: '#1', kind: 'observation', title: 'Port', project: 'shop' },
  ...{ life: 'active', marks: [], origin: 'agent' },
};

describe('what can be done', () => {
  it('with an active memory is everything but what was not done to it', () => {
    expect(offeredFor([memory])).toEqual([
      'edit',
      'pin',
      'withhold',
      'supersede',
      'merge',
      'split',
      'deprecate',
      'hide',
    ]);
  });
  it('takes back what was done', () => {
    expect(offeredFor([{ ...memory, marks: ['pinned'] }])).toContain('unpin');
    expect(offeredFor([{ ...memory, marks: ['withheld'] }])).toContain('release');
    expect(offeredFor([{ ...memory, life: 'hidden' }])).toEqual(['unhide']);
    expect(offeredFor([{ ...memory, life: 'superseded' }])).toEqual(['edit', 'hide', 'unhide']);
  });
  it('with a proposed memory begins with approving it', () => {
    expect(offeredFor([{ ...memory, life: 'proposed', marks: ['proposed'] }])[0]).toBe('approve');
  });
  it('with several is what makes sense for any of them', () => {
    const both = offeredFor([memory, { ...memory, seq: 2, marks: ['pinned'] }]);
    expect(both).toEqual(['pin', 'unpin', 'withhold', 'supersede', 'merge', 'deprecate', 'hide']);
  });
  it('merges only what is of one kind and project', () => {
    expect(mergeable([memory, { ...memory, seq: 2 }])).toBe(true);
    expect(mergeable([memory, { ...memory, kind: 'note' }])).toBe(false);
    expect(mergeable([memory, { ...memory, project: 'other' }])).toBe(false);
  });
});
