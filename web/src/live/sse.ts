// Server-sent events, read from a fetch: a browser's EventSource cannot send a key.
export type ServerEvent = { id: string; name: string; data: string };

/** Collects pieces of a stream; gives the whole blocks in them, and the place after each. */
export class BlockReader {
  private rest = '';
  place = '';

  take(piece: string): ServerEvent[] {
    const blocks = (this.rest + piece).split('\n\n');
    this.rest = blocks.pop() ?? '';
    return blocks.map((block) => this.read(block)).filter((event) => event !== null);
  }

  private read(block: string): ServerEvent | null {
    let name = 'message';
    let id = '';
    const lines: string[] = [];
    for (const line of block.split('\n')) {
      const at = line.indexOf(':');
      if (at <= 0) continue; // a comment, or nothing
      const value = line.slice(at + 1).replace(/^ /, '');
      const field = line.slice(0, at);
      if (field === 'event') name = value;
      else if (field === 'data') lines.push(value);
      else if (field === 'id') id = value;
    }
    if (id) this.place = id;
    return lines.length ? { id, name, data: lines.join('\n') } : null;
  }
}
