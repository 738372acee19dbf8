// A text with the words of the question marked in it.
import { useMemo } from 'react';
import { marksIn, wordsOf } from './marks';

export function Marked({ text, question }: { text: string; question: string }) {
  const pieces = useMemo(() => marksIn(text, wordsOf(question)), [text, question]);
  return pieces.map((piece, index) => (piece.marked ? <mark key={index}>{piece.text}</mark> : piece.text));
}
