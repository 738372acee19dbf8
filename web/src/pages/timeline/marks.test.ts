import { describe, expect, it } from 'vitest';
import { marksIn, wordsOf } from './marks';

describe('marks', () => {
  it('are the words of the question, in any case', () => {
    const pieces = marksIn('The Deploy port (37877)', wordsOf('deploy PORT?'));
    expect(pieces.filter((piece) => piece.marked).map((piece) => piece.text)).toEqual(['Deploy', 'port']);
    expect(pieces.map((piece) => piece.text).join('')).toBe('The Deploy port (37877)');
  });

  it('find Chinese without spaces', () => {
    expect(marksIn('登录超时的原因', wordsOf('超时 a')).filter((piece) => piece.marked)).toEqual([
      { text: '超时', marked: true },
    ]);
  });

  it('take signs of the question literally', () => {
    expect(marksIn('a.b', wordsOf('.*'))).toEqual([{ text: 'a.b', marked: false }]);
  });
});
