/**
 * The memory of an agent that is built with Vercel's AI SDK, as a middleware of its model: before a request the model is
 * told what earlier sessions know about it, and what the agent was asked, did and answered becomes memory. Its types are
 * those of the SDK, written down here as far as they are used, so that nothing has to be installed for them.
 */
import type { Codexmem } from './index.js';

export interface MemoryOptions {
  /** Whose memories are told, and where new ones go. */
  project: string;
  /** The conversation, by a name that stays the same when it goes on in another process; a new one unless said. */
  session?: string;
  /** How many tokens may be told at once; 1,200 unless said. */
  tokens?: number;
  /** `false`: only tell; nothing of what happens is captured. */
  capture?: boolean;
  /** How long the agent may wait for its memory at each step; two seconds unless said. */
  timeoutMs?: number;
  /** What could not be told or captured; the agent goes on without. A warning on the console unless said. */
  onError?: (error: unknown) => void;
}

interface Part {
  type: string;
  text?: unknown;
  toolCallId?: unknown;
  toolName?: unknown;
  input?: unknown;
  output?: unknown;
}
interface Message {
  role: string;
  content: string | readonly Part[];
}
interface CallOptions {
  prompt: Message[];
}
interface StreamPart {
  type: string;
  delta?: unknown;
}

/** A middleware for `wrapLanguageModel`. */
export interface MemoryMiddleware {
  readonly specificationVersion: 'v4';
  transformParams<P extends CallOptions>(call: { params: P }): Promise<P>;
  wrapGenerate<R extends { content: readonly Part[] }>(call: { doGenerate: () => PromiseLike<R> }): Promise<R>;
  wrapStream<R extends { stream: ReadableStream }>(call: { doStream: () => PromiseLike<R> }): Promise<R>;
}

const LONGEST_PROMPT = 1_000; // characters that context is asked for with: an address must stay short

/** The memory of one conversation. */
export function codexmemMiddleware(memory: Codexmem, options: MemoryOptions): MemoryMiddleware {
  const conversation = new Conversation(memory, options);
  return {
    specificationVersion: 'v4',
    transformParams: async ({ params }) => ({ ...params, prompt: await conversation.tell(params.prompt) }),
    wrapGenerate: async ({ doGenerate }) => {
      const result = await doGenerate();
      const goesOn = result.content.some((part) => part.type === 'tool-call');
      if (!goesOn) await conversation.end(textOf(result.content));
      return result;
    },
    wrapStream: async ({ doStream }) => {
      const result = await doStream();
      let said = '';
      let goesOn = false;
      const watched = new TransformStream<StreamPart, StreamPart>({
        transform(part, controller) {
          if (part.type === 'text-delta') said += String(part.delta);
          goesOn ||= part.type === 'tool-call';
          controller.enqueue(part);
        },
        flush: () => (goesOn ? undefined : conversation.end(said)),
      });
      return { ...result, stream: result.stream.pipeThrough(watched) };
    },
  };
}

class Conversation {
  readonly #memory: Codexmem;
  readonly #options: MemoryOptions;
  readonly #session: string;
  readonly #told = new Map<string, string>(); // by request: it stays where it was, or the provider's cache is lost
  readonly #sent = new Set<unknown>(); // calls of tools

  constructor(memory: Codexmem, options: MemoryOptions) {
    this.#memory = memory;
    this.#options = options;
    this.#session = options.session ?? crypto.randomUUID();
  }

  /** The prompt with what is remembered in front of each request. */
  async tell(prompt: Message[]): Promise<Message[]> {
    const last = prompt.findLastIndex((message) => message.role === 'user');
    const request = prompt[last];
    if (request === undefined) return prompt;
    const turn = requestKey(request, last);
    if (!this.#told.has(turn)) await this.#begin(turn, textOf(request.content));
    await this.#capture(prompt.slice(last + 1));
    return prompt.map((message, index) => {
      const told = message.role === 'user' ? this.#told.get(requestKey(message, index)) : undefined;
      if (!told) return message;
      const content = typeof message.content === 'string' ? [textPart(message.content)] : message.content;
      return { ...message, content: [textPart(told), ...content] };
    });
  }

  /** The agent has answered. */
  async end(answer: string): Promise<void> {
    await this.#report('/api/sessions/summarize', { last_assistant_message: answer });
  }

  async #begin(turn: string, asked: string): Promise<void> {
    const isFirst = this.#told.size === 0; // also of a conversation that goes on here: it has only its own words
    this.#told.set(turn, '');
    await this.#report('/api/sessions/init', { prompt: asked });
    await this.#trying(async (signal) => {
      const { project, tokens = 1_200 } = this.#options;
      const query = { project, session: this.#session, tokens };
      const start = isFirst ? await this.#memory.get('/api/context', { query, signal }) : '';
      const prompt = asked.slice(0, LONGEST_PROMPT);
      const fitting = prompt ? await this.#memory.get('/api/context', { query: { ...query, prompt }, signal }) : '';
      this.#told.set(turn, [start, fitting].filter(Boolean).join('\n\n'));
    });
  }

  async #capture(since: Message[]): Promise<void> {
    const parts = since.flatMap((message) => (typeof message.content === 'string' ? [] : message.content));
    const calls = new Map(parts.filter((part) => part.type === 'tool-call').map((part) => [part.toolCallId, part]));
    for (const done of parts) {
      if (done.type !== 'tool-result' || this.#sent.has(done.toolCallId)) continue;
      this.#sent.add(done.toolCallId);
      await this.#report('/api/sessions/observations', {
        event_id: `${this.#session} ${String(done.toolCallId)}`,
        tool_name: String(done.toolName),
        tool_input: calls.get(done.toolCallId)?.input,
        tool_response: valueOf(done.output),
        tool_use_id: String(done.toolCallId),
      });
    }
  }

  async #report(
    path: '/api/sessions/init' | '/api/sessions/observations' | '/api/sessions/summarize',
    what: object,
  ): Promise<void> {
    if (this.#options.capture === false) return;
    const session = { contentSessionId: this.#session, project: this.#options.project, platform: 'ai-sdk' };
    const body = { ...session, ...what };
    await this.#trying((signal) => this.#memory.post(path, { body, signal }));
  }

  async #trying(act: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    try {
      await act(AbortSignal.timeout(this.#options.timeoutMs ?? 2_000));
    } catch (error) {
      const report = this.#options.onError ?? ((problem) => console.warn('codexmem:', problem));
      report(error);
    }
  }
}

/** What a tool answered, without the frame in which the SDK hands it on. */
function valueOf(output: unknown): unknown {
  return typeof output === 'object' && output !== null && 'value' in output ? output.value : output;
}

function requestKey(request: Message, index: number): string {
  return `${index} ${textOf(request.content)}`;
}

function textOf(content: string | readonly Part[]): string {
  if (typeof content === 'string') return content;
  return content.flatMap((part) => (part.type === 'text' ? [String(part.text)] : [])).join('\n');
}

function textPart(text: string): Part {
  return { type: 'text', text };
}
