import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request to the provider, as it came over the wire. */
export interface TappedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** What the tap answers by itself; without one the provider behind it is asked. */
export interface OwnAnswer {
  status: number;
  body: string;
}

/** A tap on the wire to the provider: it notes every request and passes it on, faults of the connection included. */
export interface ProviderTap {
  url: string;
  requests: TappedRequest[];
  close(): Promise<void>;
}

/**
 * Starts a tap on a free port.
 *
 * @param target the provider's address without a path
 * @param ownAnswer the tap's answer, or null to pass the request on; a request is held back for as long as it takes
 */
export async function startProviderTap(
  target: string,
  ownAnswer: (request: TappedRequest) => OwnAnswer | null | Promise<OwnAnswer | null> = () => null,
): Promise<ProviderTap> {
  const requests: TappedRequest[] = [];
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url: path = '', headers } = incoming;
    const request = { method, path, headers, body: await readText(incoming) };
    requests.push(request);
    const own = await ownAnswer(request);
    if (own === null) pass(target, request, response);
    else response.writeHead(own.status, { 'content-type': 'application/json' }).end(own.body);
  };
  const server = createServer((incoming, response) => {
    answer(incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function readText(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function pass(
  target: string,
  { method, path, headers, body }: TappedRequest,
  response: ServerResponse,
): void {
  const onward = httpRequest(target + path, { method, headers, agent: false }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => response.socket?.resetAndDestroy());
  response.on('close', () => onward.destroy());
  onward.end(body);
}
