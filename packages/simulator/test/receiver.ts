import type { IncomingHttpHeaders } from 'node:http';
import { startLocalServer, type LocalServer } from '@onecode/testing';

/** Parsed JSON of any shape. */
export type Json = ReturnType<typeof JSON.parse>;

export interface Webhook {
  rawBody: string;
  headers: IncomingHttpHeaders;
}

/** A webhook receiver: a server that records every webhook and answers as the test sets. */
export class Receiver {
  readonly webhooks: Webhook[] = [];
  readonly handshakes: URLSearchParams[] = [];
  /** The HTTP status for each POST, by its number from 1. */
  answer: (number: number) => number = () => 200;
  /** The answer to the GET handshake. */
  verify: (query: URLSearchParams) => string = (query) => query.get('hub.challenge') ?? '';
  #server!: LocalServer;

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    receiver.#server = await startLocalServer((request, response) => {
      if (request.method === 'GET') {
        const query = new URL(request.url ?? '', 'http://receiver').searchParams;
        receiver.handshakes.push(query);
        response.end(receiver.verify(query));
        return;
      }
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const rawBody = Buffer.concat(chunks).toString('utf8');
        receiver.webhooks.push({ rawBody, headers: request.headers });
        response.writeHead(receiver.answer(receiver.webhooks.length)).end();
      });
    });
    return receiver;
  }

  get url(): string {
    return `${this.#server.url}/webhooks/whatsapp`;
  }

  /** All changes in the order of arrival, with their accounts: `[{ id, field, value }]`. */
  get all(): Json[] {
    return this.webhooks
      .flatMap(({ rawBody }) => JSON.parse(rawBody).entry)
      .flatMap(({ id, changes }) => changes.map((change: object) => ({ id, ...change })));
  }

  /** Changes of fields other than `messages`. */
  get changes(): Json[] {
    return this.all.filter(({ field }) => field !== 'messages');
  }

  get statuses(): Json[] {
    return this.all.flatMap(({ value }) => value.statuses ?? []);
  }

  /** All messages from people. */
  get replies(): Json[] {
    return this.all.flatMap(({ value }) => value.messages ?? []);
  }

  /** The names of all statuses: `['sent', 'delivered']`. */
  get words(): string[] {
    return this.statuses.map(({ status }) => status);
  }

  async close(): Promise<void> {
    await this.#server.close();
  }
}
