import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Status {
  id: string;
  status: string;
  timestamp: string;
  recipient_id: string;
  biz_opaque_callback_data?: string;
  errors?: { code: number }[];
}

export interface Webhook {
  rawBody: string;
  headers: IncomingHttpHeaders;
  at: number;
  statuses: Status[];
}

/** A webhook receiver: a server that keeps every webhook and answers what the test says. */
export class Receiver {
  readonly webhooks: Webhook[] = [];
  readonly handshakes: URLSearchParams[] = [];
  /** The HTTP status for each POST, by its number from 1; 0 leaves it without an answer. */
  answer: (number: number) => number = () => 200;
  /** The answer to the GET handshake. */
  verify: (query: URLSearchParams) => { status: number; body: string } = (query) => ({
    status: 200,
    body: query.get('hub.challenge') ?? '',
  });
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server);
    server.on('request', (request, response) => {
      if (request.method === 'GET') {
        const query = new URL(request.url ?? '', 'http://receiver').searchParams;
        receiver.handshakes.push(query);
        const { status, body } = receiver.verify(query);
        response.writeHead(status).end(body);
        return;
      }
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const rawBody = Buffer.concat(chunks).toString('utf8');
        receiver.webhooks.push({
          rawBody,
          headers: request.headers,
          at: performance.now(),
          statuses: statusesOf(JSON.parse(rawBody)),
        });
        const status = receiver.answer(receiver.webhooks.length);
        if (status > 0) response.writeHead(status).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/webhooks/whatsapp`;
  }

  /** Every status so far, in the order of arrival. */
  get statuses(): Status[] {
    return this.webhooks.flatMap(({ statuses }) => statuses);
  }

  /** Every change of another field than `messages`, with the account that it belongs to: `[{ id, field, value }]`. */
  get changes(): { id: string; field: string; value: unknown }[] {
    return this.webhooks
      .flatMap(({ rawBody }) => JSON.parse(rawBody).entry ?? [])
      .flatMap(({ id, changes }) => changes.map((change: object) => ({ id, ...change })))
      .filter(({ field }) => field !== 'messages');
  }

  /** Every message of a person so far. */
  get replies(): Record<string, unknown>[] {
    return this.webhooks
      .flatMap(({ rawBody }) => JSON.parse(rawBody).entry ?? [])
      .flatMap(({ changes }) => changes)
      .flatMap(({ value }) => value.messages ?? []);
  }

  /** The name of every status so far: `['sent', 'delivered']`. */
  get words(): string[] {
    return this.statuses.map(({ status }) => status);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function statusesOf(body: { entry?: { changes: { value: { statuses?: Status[] } }[] }[] }): Status[] {
  return (body.entry ?? []).flatMap(({ changes }) => changes.flatMap(({ value }) => value.statuses ?? []));
}
