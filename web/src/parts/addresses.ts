// Addresses of notes in a text, as the server finds them: `see project://config` is a link. And its pieces of code.
export type Piece = { text: string; address: boolean };

const ELSEWHERE = new Set(
  'http https ftp ftps ws wss file ssh git data jdbc s3 javascript vbscript blob about'.split(' '),
);
const SCHEME = String.raw`(?<![A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.-]{0,31})`;
const ENDS = [
  String.raw`\s<>"'\x60|\\()[\]{}`,
  String.raw`\u2018-\u201d\u2026\u3001\u3002\u3008-\u3011\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f`,
].join('');
const MENTION = new RegExp(`${SCHEME}://[^${ENDS}]+`, 'g');

export function addressesIn(text: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const found of text.matchAll(MENTION)) {
    if (ELSEWHERE.has((found[1] ?? '').toLowerCase())) continue;
    const address = found[0].replace(/[.,;:!?*~]+$/, '');
    if (address.endsWith('://')) continue;
    if (found.index > at) pieces.push({ text: text.slice(at, found.index), address: false });
    pieces.push({ text: address, address: true });
    at = found.index + address.length;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), address: false });
  return pieces;
}

const CODE = /`([^`\s](?:[^`\n]*[^`\s])?)`/;

/** A text that is no Markdown by its pieces of code, which writers mark in any text, and what is between them. */
export function codeIn(text: string): { text: string; code: boolean }[] {
  return text
    .split(CODE)
    .map((piece, at) => ({ text: piece, code: at % 2 === 1 }))
    .filter((piece) => piece.text !== '');
}
