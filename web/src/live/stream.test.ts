// The stream that tabs share: one reads, all hear, and whoever comes after goes on where it was.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { BlockReader } from './sse';
import { LiveStream, type LiveEvent, type Message, type Surroundings } from './stream';

/** Tabs of one browser: a channel, a lock, and a server that counts its readers. */
class Browser {
  readonly asked: string[] = [];
  readonly readers: ReadableStreamDefaultController<Uint8Array>[] = [];
  status = 200;
  refusals = 0;
  private takers = new Map<number, (message: Message) => void>();
  private queue: (() => void)[] = [];
  private held = false;
  private tabs = 0;

  tab(): LiveStream {
    const id = this.tabs++;
    const around: Surroundings = {
      channel: {
        post: (message) => {
          for (const [other, take] of this.takers) if (other !== id) take(structuredClone(message));
        },
        onMessage: (take) => void this.takers.set(id, take),
        close: () => void this.takers.delete(id),
      },
      whileLeading: (signal, lead) => {
        const run = () => {
          if (signal.aborted) return this.next();
          void lead(signal).then(() => this.next());
        };
        this.queue.push(run);
        if (!this.held) this.next();
      },
      open: (place, signal) => {
        this.asked.push(place);
        if (this.status !== 200) return Promise.resolve(new Response(null, { status: this.status }));
        const body = new ReadableStream<Uint8Array>({
          start: (reader) => {
            this.readers.push(reader);
            signal.addEventListener('abort', () => reader.error(new Error('aborted')));
          },
        });
        return Promise.resolve(new Response(body));
      },
      wait: () => new Promise((resume) => setTimeout(resume, 1)),
      refused: () => void (this.refusals += 1),
    };
    return new LiveStream(around);
  }

  tell(text: string) {
    this.readers.at(-1)?.enqueue(new TextEncoder().encode(text));
  }

  private next() {
    const run = this.queue.shift();
    this.held = run !== undefined;
    run?.();
  }
}

const opened: LiveStream[] = [];
afterEach(() => opened.splice(0).forEach((stream) => stream.close()));

function open(browser: Browser): { stream: LiveStream; heard: LiveEvent[] } {
  const stream = browser.tab();
  opened.push(stream);
  const heard: LiveEvent[] = [];
  stream.onEvent((event) => heard.push(event));
  return { stream, heard };
}

describe('a stream that tabs share', () => {
  it('is read by one tab and heard by all', async () => {
    const browser = new Browser();
    const tabs = Array.from({ length: 12 }, () => open(browser));
    await vi.waitFor(() => expect(tabs.every(({ stream }) => stream.state === 'live')).toBe(true));
    browser.tell('event: memory.written\nid: 7\ndata: {"n":1}\n\n');
    const told = { id: '7', name: 'memory.written', payload: { n: 1 } };
    await vi.waitFor(() => expect(tabs.every(({ heard }) => heard.length === 1)).toBe(true));
    expect(tabs.map(({ heard }) => heard[0])).toEqual(tabs.map(() => told));
    expect(browser.asked).toEqual(['']);
  });

  it('goes on with the next tab, after the last event it has seen', async () => {
    const browser = new Browser();
    const first = open(browser);
    const second = open(browser);
    await vi.waitFor(() => expect(first.stream.state).toBe('live'));
    browser.tell('event: a\nid: 41\ndata: {}\n\n: still here\nid: 42\n\n');
    await vi.waitFor(() => expect(second.heard.length).toBe(1));
    first.stream.close();
    await vi.waitFor(() => expect(browser.asked).toEqual(['', '42']));
    expect(second.stream.leading).toBe(true);
  });

  it('tells a tab that comes later what the state is', async () => {
    const browser = new Browser();
    const first = open(browser);
    await vi.waitFor(() => expect(first.stream.state).toBe('live'));
    browser.tell('event: queue.depth\ndata: {"queued":3}\n\n');
    await vi.waitFor(() => expect(first.heard.length).toBe(1));
    const late = open(browser);
    await vi.waitFor(() => expect(late.heard).toEqual([{ id: '', name: 'queue.depth', payload: { queued: 3 } }]));
    expect(late.stream.state).toBe('live');
  });

  it('says that it is cut, then that nobody answers, and comes back', async () => {
    const browser = new Browser();
    const { stream } = open(browser);
    const states: string[] = [];
    stream.onState(() => states.push(stream.state));
    await vi.waitFor(() => expect(stream.state).toBe('live'));
    browser.status = 503;
    browser.readers.at(-1)?.close();
    await vi.waitFor(() => expect(stream.state).toBe('offline'));
    browser.status = 200;
    await vi.waitFor(() => expect(stream.state).toBe('live'));
    expect(states).toContain('reconnecting');
  });

  it('says when a key is asked for', async () => {
    const browser = new Browser();
    browser.status = 401;
    open(browser);
    await vi.waitFor(() => expect(browser.refusals).toBeGreaterThan(0));
  });
});

describe('blocks of a stream', () => {
  it('are whole, however they arrive', () => {
    const whole = 'retry: 2000\nid: 5\n\nevent: x\nid: 6\ndata: one\ndata: two: 2\n\n: beat\nid: 7\n\n';
    for (let size = 1; size < whole.length; size += 3) {
      const reader = new BlockReader();
      const told = [];
      for (let at = 0; at < whole.length; at += size) told.push(...reader.take(whole.slice(at, at + size)));
      expect(told).toEqual([{ id: '6', name: 'x', data: 'one\ntwo: 2' }]);
      expect(reader.place).toBe('7');
    }
  });
});
