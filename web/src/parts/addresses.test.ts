import { describe, expect, it } from 'vitest';
import { addressesIn, codeIn } from './addresses';

const found = (text: string) => addressesIn(text).flatMap((piece) => (piece.address ? [piece.text] : []));

describe('addresses in a text', () => {
  it('are those of notes, without what ends the sentence', () => {
    expect(found('see project://config/port, and core://agent.')).toEqual(['project://config/port', 'core://agent']);
    expect(found('见 project://配置/语言。以及（core://agent）')).toEqual(['project://配置/语言', 'core://agent']);
  });
  it('are not those of the web or of files', () => {
    expect(found('https://example.org/a file:///etc/x and project://')).toEqual([]);
  });
  it('leave the rest of the text as it was', () => {
    const text = 'a project://b c https://d e';
    expect(
      addressesIn(text)
        .map((piece) => piece.text)
        .join(''),
    ).toBe(text);
  });
});

describe('code in a text', () => {
  it.each([
    ['Edited `src/db.py`: `POOL` 5 → 9', 'Edited [src/db.py]: [POOL] 5 → 9'],
    ['`make` 失败', '[make] 失败'],
    ['a ` alone, `two\nlines` and __init__ * glob', 'a ` alone, `two\nlines` and __init__ * glob'],
    ['', ''],
  ])('%j', (text, expected) => {
    const pieces = codeIn(text).map((piece) => (piece.code ? `[${piece.text}]` : piece.text));
    expect(pieces.join('')).toBe(expected);
  });
});
