import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** One complete Onecode, with a database of its own. */
export interface Home {
  /** What the ids of its sends end with. */
  digit: string;
  url: string;
  /** Its own: the router signs anew. */
  appSecret: string;
}

interface Value {
  metadata?: { phone_number_id?: string };
  statuses?: { biz_opaque_callback_data?: string }[];
}
type Entry = { changes: { value: Value }[] };

const WEBHOOK = '/webhooks/whatsapp';

/** In front of several homes: what has a key goes to the key's home, and each report of a webhook to the home that it is for. */
export class Router {
  readonly homes: Home[] = [];
  /** By SHA-256, as in `api_keys`. */
  readonly homesOfKeys = new Map<string, Home>();
  /** By phone number id. A number may move. */
  readonly homesOfNumbers = new Map<string, Home>();
  readonly #server = createServer((incoming, response) => {
    this.#answer(incoming, response).catch(() => response.writeHead(503).end());
  });
  /** The provider's. */
  appSecret = '';

  /** @returns its address */
  async listen(): Promise<string> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close().closeAllConnections();
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = incoming;
    const body = await buffer(incoming);
    if (method === 'POST' && url === WEBHOOK) {
      const status = await this.#deliver(body, headers['x-hub-signature-256']);
      response.writeHead(status).end();
      return;
    }
    const key = headers.authorization?.replace('Bearer ', '') ?? '';
    // A key that nobody has is refused by any home.
    const answer = await forward(
      this.homesOfKeys.get(sha256(key)) ?? this.homes[0]!,
      method,
      url,
      headers,
      body,
    );
    const { connection: _, 'keep-alive': __, ...rest } = answer.headers;
    answer.pipe(response.writeHead(answer.statusCode!, rest));
  }

  /**
   * Gives each home its part of a webhook. All parts are tried whatever becomes of the others; the provider repeats what was not
   * answered with 200, and a home takes what it had already.
   */
  async #deliver(body: Buffer, signature: unknown): Promise<number> {
    if (signature !== signatureOf(body, this.appSecret)) return 401;
    const post = JSON.parse(body.toString()) as { entry: Entry[] };
    const statuses = this.homes.map(async (home) => {
      const entry = this.#partFor(home, post.entry);
      if (entry.length === 0) return 200;
      const part = Buffer.from(JSON.stringify({ ...post, entry }));
      const headers = {
        'content-type': 'application/json',
        'x-hub-signature-256': signatureOf(part, home.appSecret),
      };
      const answer = await forward(home, 'POST', WEBHOOK, headers, part).catch(() => null);
      return answer?.resume().statusCode ?? 503;
    });
    return Math.max(...(await Promise.all(statuses)));
  }

  #partFor(home: Home, entries: Entry[]): Entry[] {
    const partOf = (value: Value): Value | null => {
      const ofNumber = this.homesOfNumbers.get(value.metadata?.phone_number_id ?? '');
      // What is about no number, as the state of a template, is for every home.
      if (value.statuses === undefined) return ofNumber === undefined || ofNumber === home ? value : null;
      // A receipt's send names its home, also when its number has moved since.
      const statuses = value.statuses.filter(({ biz_opaque_callback_data: data = '' }) => {
        const digit = data.split('.')[0]!.at(-1);
        return (this.homes.find((each) => each.digit === digit) ?? ofNumber) === home;
      });
      return statuses.length === 0 ? null : { ...value, statuses };
    };
    return entries.flatMap((entry) => {
      const changes = entry.changes.flatMap((change) => {
        const value = partOf(change.value);
        return value === null ? [] : [{ ...change, value }];
      });
      return changes.length === 0 ? [] : [{ ...entry, changes }];
    });
  }
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The value of `X-Hub-Signature-256`. */
export const signatureOf = (body: Buffer | string, appSecret: string): string =>
  `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`;

/** @throws when the home's API cannot be reached */
async function forward(
  home: Home,
  method: string,
  path: string,
  headers: IncomingHttpHeaders,
  body: Buffer,
): Promise<IncomingMessage> {
  const options = { method, headers: { ...headers, 'content-length': String(body.length) } };
  const [answer] = await once(request(home.url + path, options).end(body), 'response');
  return answer as IncomingMessage;
}
