// How a memory is told in two lines: its title, and what its text adds to that.
/** What the snippet adds to the title, which is more than the full stop behind it. */
export function restOf(title: string, snippet: string): string {
  const begun = title.endsWith('…') ? title.slice(0, -1) : title;
  return snippet.startsWith(begun)
    ? snippet
        .slice(begun.length)
        .replace(/^[.…。]+/, '')
        .trim()
    : snippet;
}
