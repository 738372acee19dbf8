// The live stream in a real browser: locks, channel, fetch, and one stream per key.
import { authorization, currentKey, onKey, refused } from '@/api/keys';
import { LiveStream, type Channel, type Message, type Surroundings } from './stream';

const NAME = 'codexmem-live';

/** A short name for a key: tabs that share it share a stream. It need not resist anybody, only tell keys apart. */
export function nameFor(key: string | null): string {
  let hash = 0xcbf29ce484222325n;
  for (const letter of key ?? '') hash = BigInt.asUintN(64, (hash ^ BigInt(letter.charCodeAt(0))) * 0x100000001b3n);
  return key ? `${NAME}-${hash.toString(36)}` : NAME;
}

function broadcast(name: string): Channel {
  const channel = new BroadcastChannel(name);
  return {
    post: (message) => channel.postMessage(message),
    onMessage: (take) => (channel.onmessage = (event: MessageEvent<Message>) => take(event.data)),
    close: () => channel.close(),
  };
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resume) => {
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      removeEventListener('online', done);
      signal.removeEventListener('abort', done);
      resume();
    }
    addEventListener('online', done);
    signal.addEventListener('abort', done);
  });
}

function whileVisible(signal: AbortSignal, lead: (signal: AbortSignal) => Promise<void>) {
  let reading: AbortController | null = null;
  const look = () => {
    if (document.hidden || signal.aborted) {
      reading?.abort();
      reading = null;
    } else if (!reading) {
      reading = new AbortController();
      void lead(AbortSignal.any([signal, reading.signal]));
    }
  };
  document.addEventListener('visibilitychange', look);
  signal.addEventListener('abort', look);
  look();
}

function surroundings(key: string | null): Surroundings {
  const name = nameFor(key);
  return {
    channel: 'locks' in navigator ? broadcast(name) : { post: () => {}, onMessage: () => {}, close: () => {} },
    whileLeading: (signal, lead) => {
      if (!('locks' in navigator)) return whileVisible(signal, lead);
      navigator.locks.request(name, { signal }, () => lead(signal)).catch(() => {}); // aborted while waiting
    },
    open: (place, signal) =>
      fetch('/api/events', {
        headers: { ...authorization(), ...(place ? { 'Last-Event-ID': place } : {}) },
        cache: 'no-store',
        signal,
      }),
    wait,
    refused: () => refused(key),
  };
}

let stream: LiveStream | null = null;
let streamKey: string | null = null;
const replaced = new Set<() => void>();

/** The stream of the key in use. */
export function liveStream(): LiveStream {
  if (!stream) {
    streamKey = currentKey();
    stream = new LiveStream(surroundings(streamKey));
  }
  return stream;
}

export function onStreamReplaced(listener: () => void): () => void {
  replaced.add(listener);
  return () => replaced.delete(listener);
}

onKey(() => {
  if (!stream || streamKey === currentKey()) return;
  stream.close();
  stream = null;
  replaced.forEach((tell) => tell());
});
