// How a memory is told in two lines: its title, and what its text adds to that.
const MARKUP = [
  [/^(?:#{1,6}|[-*+>]|\d+[.)])\s+/, ''], // headings, lists and quotes
  [/(\*\*|`+)(\S(?:.*?\S)?)\1/g, '$2'], // bold and code
  [/!?\[([^\]]+)\]\([^)\s]+\)/g, '$1'], // links and pictures
] as const;

/** A line of Markdown as it reads, without its marks. */
export function plainLine(markdown: string): string {
  return MARKUP.reduce((line, [mark, kept]) => line.replace(mark, kept), markdown);
}

/** What the snippet adds to the title, which is more than the full stop behind it. */
export function restOf(title: string, snippet: string): string {
  const begun = title.endsWith('…') ? title.slice(0, -1) : title;
  const rest = snippet.startsWith(begun)
    ? snippet
        .slice(begun.length)
        .replace(/^[.…。]+/, '')
        .trim()
    : snippet;
  return plainLine(rest);
}
