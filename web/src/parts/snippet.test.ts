import { describe, expect, it } from 'vitest';
import { restOf } from './snippet';

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
