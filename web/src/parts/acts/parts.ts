// Where a text would be cut, as a first proposal: between paragraphs, else lines, else sentences. Pure.

const MOST = 20;

export function partsOf(text: string): string[] {
  for (const cut of [/\n\s*\n/, /\n(?=\s*(?:[-*•]|\d+[.)、])\s*)|\n/, /(?<=[.!?])\s+(?=\S)|(?<=[。！？])/]) {
    const parts = text
      .split(cut)
      .map((part) => part.trim())
      .filter(Boolean);
    if (parts.length > 1) return grouped(parts);
  }
  return [text.trim(), ''];
}

/** As many as fit: what is too much stays together with its neighbours. */
function grouped(parts: string[]): string[] {
  if (parts.length <= MOST) return parts;
  const size = Math.ceil(parts.length / MOST);
  return Array.from({ length: Math.ceil(parts.length / size) }, (_, at) =>
    parts.slice(at * size, (at + 1) * size).join('\n'),
  );
}
