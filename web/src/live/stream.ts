// One event stream per browser, whatever the number of tabs: HTTP/1.1 allows six connections to a server.
//
// The tab that holds the lock reads the stream and posts every message on a channel; the others listen. When that tab
// closes, the lock passes to the next one, which goes on after the last event it has seen. Lock and channel are named
// after the key, so that tabs with different keys never hear each other. Where there are no locks (a page that did not
// come from this machine or over HTTPS) each visible tab reads for itself.
import { BlockReader, type ServerEvent } from './sse';

export type LiveState = 'connecting' | 'live' | 'reconnecting' | 'offline';
export type LiveEvent = { id: string; name: string; payload: unknown };
export type Message =
  | { kind: 'hello' }
  | { kind: 'state'; state: LiveState }
  | { kind: 'place'; place: string }
  | { kind: 'event'; event: LiveEvent };

export type Channel = {
  post(message: Message): void;
  onMessage(take: (message: Message) => void): void;
  close(): void;
};
export type Surroundings = {
  channel: Channel;
  /** Runs `lead` while this tab is the one that reads; without locks, while it is visible. */
  whileLeading(signal: AbortSignal, lead: (signal: AbortSignal) => Promise<void>): void;
  open(place: string, signal: AbortSignal): Promise<Response>;
  wait(ms: number, signal: AbortSignal): Promise<void>;
  refused(): void;
};

const OFFLINE_AFTER = 3; // attempts
const QUIET_MS = 40_000; // the server says something every 15 s; after this the connection is dead
const WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000];

export class LiveStream {
  state: LiveState = 'connecting';
  leading = false;
  private place = '';
  private latest = new Map<string, LiveEvent>();
  private readonly stop = new AbortController();
  private readonly stateListeners = new Set<() => void>();
  private readonly eventListeners = new Set<(event: LiveEvent) => void>();

  constructor(private readonly around: Surroundings) {
    around.channel.onMessage((message) => this.hear(message));
    around.whileLeading(this.stop.signal, (signal) => this.lead(signal));
    around.channel.post({ kind: 'hello' });
  }

  onState(listener: () => void): () => void {
    this.stateListeners.add(listener);
    return () => this.stateListeners.delete(listener);
  }

  onEvent(listener: (event: LiveEvent) => void): () => void {
    this.eventListeners.add(listener);
    // States, as opposed to events, are told at once to whoever comes later.
    this.latest.forEach(listener);
    return () => this.eventListeners.delete(listener);
  }

  close() {
    this.stop.abort();
    this.around.channel.close();
  }

  private hear(message: Message) {
    if (message.kind === 'hello') {
      if (!this.leading) return;
      this.around.channel.post({ kind: 'place', place: this.place });
      this.around.channel.post({ kind: 'state', state: this.state });
      for (const event of this.latest.values()) this.around.channel.post({ kind: 'event', event });
    } else if (!this.leading) this.take(message);
  }

  private publish(message: Message) {
    this.take(message);
    this.around.channel.post(message);
  }

  private take(message: Message) {
    if (message.kind === 'state') {
      this.state = message.state;
      this.stateListeners.forEach((tell) => tell());
    } else if (message.kind === 'place') {
      this.place = message.place;
    } else if (message.kind === 'event') {
      const { event } = message;
      if (event.id) this.place = event.id;
      else this.latest.set(event.name, event);
      this.eventListeners.forEach((tell) => tell(event));
    }
  }

  private async lead(signal: AbortSignal) {
    this.leading = true;
    for (let failures = 0; !signal.aborted;) {
      try {
        await this.follow(signal, () => (failures = 0));
        failures += 1;
      } catch {
        failures += 1;
      }
      if (signal.aborted) break;
      this.publish({ kind: 'state', state: failures >= OFFLINE_AFTER ? 'offline' : 'reconnecting' });
      const wait = WAITS_MS[Math.min(failures, WAITS_MS.length) - 1] ?? 500;
      await this.around.wait(wait, signal);
    }
    this.leading = false;
  }

  private async follow(signal: AbortSignal, opened: () => void) {
    const quiet = new AbortController();
    const reply = await this.around.open(this.place, AbortSignal.any([signal, quiet.signal]));
    if (reply.status === 401) this.around.refused();
    // A place the server cannot go on from is given up: what is missed is in the lists.
    if (reply.status === 400) this.place = '';
    if (!reply.ok || !reply.body) throw new Error(`HTTP ${reply.status}`);
    opened();
    this.publish({ kind: 'state', state: 'live' });
    const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    const blocks = new BlockReader();
    for (;;) {
      const timer = setTimeout(() => quiet.abort(), QUIET_MS);
      const { value, done } = await reader.read().finally(() => clearTimeout(timer));
      if (done || signal.aborted) return;
      for (const event of blocks.take(value)) this.publish({ kind: 'event', event: parsed(event) });
      if (blocks.place !== this.place && blocks.place) this.publish({ kind: 'place', place: blocks.place });
    }
  }
}

function parsed(event: ServerEvent): LiveEvent {
  let payload: unknown = event.data;
  try {
    payload = JSON.parse(event.data);
  } catch {
    // Shown as it came.
  }
  return { id: event.id, name: event.name, payload };
}
