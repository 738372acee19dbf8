// References and the pages that show them.
import { describe, expect, it } from 'vitest';
import { memoryPage, pageOf, uriOf } from './reference';

describe('references', () => {
  it.each([
    ['#12', '/ui/memories/12'],
    ['#S9', '/ui/memories/S9'],
    ['p7', '/ui/memories/P7'],
    ['note project://config', '/ui/m/project/config'],
    ['core://agent/how to?', '/ui/m/core/agent/how%20to%3F'],
    ['mem:12ab', '/ui/rb/12ab'],
    ['qa qa-0041', '/ui/memories/qa-0041'],
    ['run_1', '/ui/runs/run_1'],
    ['rbd_31', '/ui/rb/deltas/rbd_31'],
    ['kb-1', '/ui/memories/kb-1'],
    ['javascript:alert(1)', null],
    ['two words', null],
    ['', null],
  ])('%s', (reference, page) => expect(pageOf(reference)).toBe(page));

  it('come back from their page', () => {
    for (const uri of ['project://config', 'core://a/b/c', 'system://']) {
      expect(uriOf(decodeURIComponent((memoryPage(uri) ?? '').replace('/ui/m/', '')))).toBe(uri);
    }
  });
});
