// Which shortcut a key means.
import { describe, expect, it } from 'vitest';
import { isTyping, meant, type Shortcut } from './useShortcuts';

const shortcut = (keys: string, label: string): Shortcut => ({ keys, label, run: () => {} });
const ALL = [shortcut('g v', 'viewer'), shortcut('v', 'verdict'), shortcut('j', 'frame'), shortcut('j', 'page')];

describe('a key', () => {
  it('means the sequence it ends, else itself', () => {
    expect(meant(ALL, 'v', 'g')?.label).toBe('viewer');
    expect(meant(ALL, 'v', null)?.label).toBe('verdict');
    expect(meant(ALL, 'v', 'x')?.label).toBe('verdict');
    expect(meant(ALL, 'q', 'g')).toBeNull();
  });

  it('means what the page says rather than the frame', () => expect(meant(ALL, 'j', null)?.label).toBe('page'));

  it('belongs to a field that is typed in', () => {
    const made = (tag: string, type = '') => Object.assign(document.createElement(tag), type ? { type } : {});
    expect([made('input'), made('textarea'), made('select')].map(isTyping)).toEqual([true, true, true]);
    expect([made('input', 'checkbox'), made('button'), document.body].map(isTyping)).toEqual([false, false, false]);
    const dialog = made('div');
    dialog.setAttribute('role', 'dialog');
    dialog.append(made('button'));
    expect(isTyping(dialog.firstChild)).toBe(true);
  });
});
