import { fileURLToPath } from 'node:url';
import express, { Router, type Request, type Response } from 'express';
import type { Message } from './log.js';

const PUBLIC = fileURLToPath(new URL('../public/', import.meta.url));

/** Serves the phone page: static files, nothing from other origins, no inline scripts or styles. */
export function phonePage(): Router {
  const router = Router();
  router.use((_request, response, next) => {
    response.set({
      'Content-Security-Policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
    });
    next();
  });
  const setHeaders = (response: Response) => void response.setHeader('Cache-Control', 'no-cache');
  router.use(express.static(PUBLIC, { cacheControl: false, setHeaders }));
  return router;
}

const QUIET_MS = 200;
/** A page that reads slower than messages arrive is disconnected; it reconnects and starts from a snapshot. */
const BACKLOG_BYTES_MAX = 4 * 1024 * 1024;

/** The live stream of the phone page (server-sent events): a snapshot first, then changes. */
export class Events {
  readonly #pages = new Set<Response>();
  #quiet: NodeJS.Timeout | null = null;

  constructor(
    /** The newest messages, newest first. */
    readonly messages: () => Message[],
    /** The contents of the panels: rules, counts, webhooks, the business account and its throttles. */
    readonly state: () => object,
  ) {}

  open(request: Request, response: Response): void {
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      Connection: 'keep-alive',
      'X-Accel-Buffering': 'no',
    });
    response.write(`retry: 1000\n\n${this.#snapshot()}`);
    this.#pages.add(response);
    request.once('close', () => this.#pages.delete(response));
  }

  message(message: Message): void {
    if (this.#pages.size > 0) this.#write(event('message', message));
    this.changed();
  }

  /** Sends changed rules, counts or webhooks, at most every 200 ms because under load they change with each message. */
  changed(): void {
    if (this.#pages.size === 0 || this.#quiet !== null) return;
    this.#quiet = setTimeout(() => {
      this.#quiet = null;
      this.#write(event('state', this.state()));
    }, QUIET_MS);
  }

  /** Makes pages redraw everything. */
  restart(): void {
    if (this.#pages.size > 0) this.#write(this.#snapshot());
  }

  close(): void {
    if (this.#quiet !== null) clearTimeout(this.#quiet);
    for (const page of this.#pages) page.end();
    this.#pages.clear();
  }

  #snapshot(): string {
    return event('snapshot', { messages: this.messages(), ...this.state() });
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
