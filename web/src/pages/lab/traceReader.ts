// Reads the trace of one run, page after page, as far as somebody wants to see it: the first events at once, further
// ones as the reader comes near the end, all of them for a filter or for the newest. What was read is kept, so nothing
// is asked for twice; while the run goes on, the reader asks for what came after the last event.
import type { RunEvent } from '@/api/lab';

export type EventPage = { items: RunEvent[]; has_more: boolean; tail_cursor: string | null };
export type FetchEvents = (cursor: string | null, signal: AbortSignal) => Promise<EventPage>;
export type Trace = {
  events: readonly RunEvent[];
  /** Whether the server has events that were not read yet. */
  more: boolean;
  reading: boolean;
  error: unknown;
};

// Pages come faster than they can be drawn, and a longer trace takes longer to draw.
const PUBLISH_MS = 150;
const PER_MS = 100; // events

export class TraceReader {
  private trace: Trace = { events: [], more: true, reading: false, error: null };
  private readonly kept: RunEvent[] = [];
  private cursor: string | null = null;
  private more = true;
  private error: unknown = null;
  private wanted = 0;
  private work: Promise<void> | null = null;
  private published = 0;
  private stopping = new AbortController();
  private readonly listeners = new Set<() => void>();

  constructor(private readonly fetchPage: FetchEvents) {}

  readonly subscribe = (tell: () => void): (() => void) => {
    this.listeners.add(tell);
    return () => this.listeners.delete(tell);
  };

  readonly current = (): Trace => this.trace;

  /** Read on until so many events are there, or there are no more. */
  readTo(count: number): Promise<void> {
    this.wanted = Math.max(this.wanted, count);
    return this.go();
  }

  /** Read one page more. */
  next(): Promise<void> {
    return this.work ?? this.readTo(this.kept.length + 1);
  }

  /** Read everything there is, and what came since the end was last reached. */
  async follow(): Promise<void> {
    if (!this.work && !this.more) this.more = true;
    await this.readTo(Infinity);
    this.wanted = this.kept.length;
  }

  /** No more than so many are wanted any longer; a page that is being read is still taken. */
  enough(count = 0) {
    this.wanted = Math.max(this.kept.length, count);
  }

  /** Nobody looks any more; what was read stays. */
  pause() {
    this.stopping.abort();
    this.stopping = new AbortController();
    this.work = null;
    this.enough();
  }

  private go(): Promise<void> {
    if (!this.more || this.kept.length >= this.wanted) return this.work ?? Promise.resolve();
    if (this.work) return this.work;
    const work = this.read(this.stopping.signal).finally(() => {
      if (this.work !== work) return; // paused, and perhaps begun anew
      this.work = null;
      this.publish();
    });
    this.work = work;
    return work;
  }

  private async read(signal: AbortSignal) {
    this.error = null;
    try {
      while (this.more && this.kept.length < this.wanted) {
        const page = await this.fetchPage(this.cursor, signal);
        if (signal.aborted) return;
        for (const event of page.items) this.kept.push(event);
        this.cursor = page.tail_cursor ?? this.cursor;
        this.more = page.has_more;
        if (Date.now() - this.published > PUBLISH_MS + this.kept.length / PER_MS) this.publish();
      }
    } catch (thrown) {
      if (signal.aborted) return;
      this.error = thrown;
      this.wanted = this.kept.length;
    }
  }

  private publish() {
    this.published = Date.now();
    const before = this.trace;
    const grown = before.events.length !== this.kept.length;
    const next = { more: this.more, reading: this.work !== null, error: this.error };
    if (!grown && before.more === next.more && before.reading === next.reading && before.error === next.error) return;
    // The same array while nothing came: whoever computes with it need not do so again.
    this.trace = { events: grown ? this.kept.slice() : before.events, ...next };
    this.listeners.forEach((tell) => tell());
  }
}
