// Addresses as the page reads them.
import { describe, expect, it } from 'vitest';
import { above, isView, pathOf, rangeOf, viewName } from './addresses';

describe('addresses', () => {
  it('know what they lie under', () => {
    expect(above('project://配置/端口/旧')).toEqual(['project://', 'project://配置', 'project://配置/端口']);
    expect(above('core://agent')).toEqual(['core://']);
    expect(pathOf('project://a/b')).toBe('a/b');
  });

  it('name views only in the domain of the system', () => {
    expect([isView('system://boot'), isView('project://system')]).toEqual([true, false]);
    expect([viewName('system://recent/5'), viewName('system://odd')]).toEqual(['recent', null]);
  });

  it('read ranges, and nothing else', () => {
    expect(rangeOf('0-2')).toEqual({ from: 0, to: 2 });
    expect([rangeOf('3-1'), rangeOf('0-11'), rangeOf('x')]).toEqual([null, null, null]);
  });
});
