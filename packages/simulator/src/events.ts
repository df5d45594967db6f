import type { Request, Response } from 'express';
import type { Message } from './messages.js';

/** Where the stream takes from what it tells. */
export interface EventSource {
  /** The newest messages, newest first. */
  messages(): Message[];
  /** What the panels show: rules, counts, webhooks, the business account and its throttles. */
  state(): object;
}

const HEARTBEAT_MS = 15_000;
const QUIET_MS = 200;
/** A page that reads slower than messages come in is cut off; it comes back by itself and starts from a snapshot. */
const BACKLOG_BYTES_MAX = 4 * 1024 * 1024;

/** The live stream behind the phone page (server-sent events): a snapshot first, then what changes. */
export class Events {
  readonly #pages = new Set<Response>();
  readonly #source: EventSource;
  #quiet: NodeJS.Timeout | null = null;
  #heartbeat: NodeJS.Timeout | null = null;

  constructor(source: EventSource) {
    this.#source = source;
  }

  open(request: Request, response: Response): void {
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      Connection: 'keep-alive',
      'X-Accel-Buffering': 'no',
    });
    response.write(`retry: 1000\n\n${this.#snapshot()}`);
    this.#pages.add(response);
    this.#heartbeat ??= setInterval(() => this.#write(': still here\n\n'), HEARTBEAT_MS).unref();
    request.once('close', () => this.#pages.delete(response));
  }

  message(message: Message): void {
    if (this.#pages.size > 0) this.#write(event('message', message));
  }

  /** Rules, counts or webhooks changed: told at most every 200 ms, since under load they change with each message. */
  changed(): void {
    if (this.#pages.size === 0 || this.#quiet !== null) return;
    this.#quiet = setTimeout(() => {
      this.#quiet = null;
      this.#write(event('state', this.#source.state()));
    }, QUIET_MS);
  }

  /** Everything is to be drawn anew. */
  restart(): void {
    if (this.#pages.size > 0) this.#write(this.#snapshot());
  }

  close(): void {
    if (this.#heartbeat !== null) clearInterval(this.#heartbeat);
    if (this.#quiet !== null) clearTimeout(this.#quiet);
    for (const page of this.#pages) page.end();
    this.#pages.clear();
  }

  #snapshot(): string {
    return event('snapshot', { messages: this.#source.messages(), ...this.#source.state() });
  }

  #write(text: string): void {
    for (const page of this.#pages) {
      if (page.writableLength > BACKLOG_BYTES_MAX) page.destroy();
      else page.write(text);
    }
  }
}

function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
