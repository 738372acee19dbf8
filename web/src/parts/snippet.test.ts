import { describe, expect, it } from 'vitest';
import { plainLine, restOf } from './snippet';

describe('what a snippet adds to its title', () => {
  it('is nothing where only the full stop differs', () => {
    expect(restOf('Edited app.py: a 1 → 2', 'Edited app.py: a 1 → 2.')).toBe('');
    expect(restOf('编辑 app.py', '编辑 app.py。')).toBe('');
  });
  it('is what follows the title', () => {
    expect(restOf('Edited app.py', 'Edited app.py. Tests pass.')).toBe('Tests pass.');
    expect(restOf('Deploy on …', 'Deploy on Tuesdays')).toBe('Tuesdays');
    expect(restOf('A title', 'Something else')).toBe('Something else');
  });
});

describe('a line of Markdown', () => {
  it.each([
    ['# Ports', 'Ports'],
    ['1. `just build`', 'just build'],
    ['- 对账文件按**北京时间**切分', '对账文件按北京时间切分'],
    ['see [the steps](project://deploy/steps) first', 'see the steps first'],
    ['SELECT * FROM orders WHERE a*b > 2', 'SELECT * FROM orders WHERE a*b > 2'],
    ['2026-11-18: #12 and __init__.py', '2026-11-18: #12 and __init__.py'],
  ])('%s', (markdown, line) => expect(plainLine(markdown)).toBe(line));
});
