// Where the words of a question stand in a text, so that a result shows why it was found.
export type Piece = { text: string; marked: boolean };

const SPECIAL = /[.*+?^${}()|[\]\\]/g;
const HAN = /\p{Script=Han}/u;

/** Words worth marking: of two letters or more, or Chinese of any length. */
export function wordsOf(question: string): string[] {
  const words = question.match(/[\p{Script=Han}]+|[\p{L}\p{N}_]+/gu) ?? [];
  return [...new Set(words.filter((word) => word.length > 1 || HAN.test(word)))].slice(0, 20);
}

export function marksIn(text: string, words: readonly string[]): Piece[] {
  if (!words.length) return [{ text, marked: false }];
  const longest = [...words].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(`(${longest.map((word) => word.replace(SPECIAL, '\\$&')).join('|')})`, 'giu');
  return text
    .split(pattern)
    .map((piece, index) => ({ text: piece, marked: index % 2 === 1 }))
    .filter((piece) => piece.text !== '');
}
