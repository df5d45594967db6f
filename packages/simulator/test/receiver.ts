import type { IncomingHttpHeaders } from 'node:http';
import { startLocalServer, type LocalServer } from '@onecode/testing';

/** Parsed JSON, whose shape only the test knows. */
export type Json = ReturnType<typeof JSON.parse>;

export interface Webhook {
  rawBody: string;
  headers: IncomingHttpHeaders;
}

/** A webhook receiver: a server that keeps every webhook and answers what the test says. */
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

  /** Every change so far, in the order of arrival, with the account that it belongs to: `[{ id, field, value }]`. */
  get all(): Json[] {
    return this.webhooks
      .flatMap(({ rawBody }) => JSON.parse(rawBody).entry)
      .flatMap(({ id, changes }) => changes.map((change: object) => ({ id, ...change })));
  }

  /** Those of another field than `messages`. */
  get changes(): Json[] {
    return this.all.filter(({ field }) => field !== 'messages');
  }

  get statuses(): Json[] {
    return this.all.flatMap(({ value }) => value.statuses ?? []);
  }

  /** Every message of a person so far. */
  get replies(): Json[] {
    return this.all.flatMap(({ value }) => value.messages ?? []);
  }

  /** The name of every status so far: `['sent', 'delivered']`. */
  get words(): string[] {
    return this.statuses.map(({ status }) => status);
  }

  async close(): Promise<void> {
    await this.#server.close();
  }
}
