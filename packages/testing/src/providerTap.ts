import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request to the provider as the tap received it. */
export interface TappedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** An answer that the tap gives in place of the provider. */
export interface TapAnswer {
  status: number;
  body: string;
}

/** Decides whether the tap answers a request, or with null the provider. */
export type AnswerInstead = (request: TappedRequest) => TapAnswer | null | Promise<TapAnswer | null>;

/** A proxy in front of the provider that records every request. It passes on requests, answers and connection faults. */
export interface ProviderTap {
  url: string;
  requests: TappedRequest[];
  close(): Promise<void>;
}

/**
 * Starts a tap on a free port.
 *
 * @param target the provider's address without a path
 * @param answerInstead returns the tap's answer, or null to pass the request on; the request waits until it has decided
 */
export async function startProviderTap(
  target: string,
  answerInstead: AnswerInstead = () => null,
): Promise<ProviderTap> {
  const requests: TappedRequest[] = [];
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url: path = '', headers } = incoming;
    const request = { method, path, headers, body: await readText(incoming) };
    requests.push(request);
    const instead = await answerInstead(request);
    if (instead === null) passOn(target, request, response);
    else response.writeHead(instead.status, { 'content-type': 'application/json' }).end(instead.body);
  };
  const server = createServer((incoming, response) => {
    answer(incoming, response).catch(() => response.destroy());
  });
  // After Node's five seconds a busy client's next request would meet the closing of its connection.
  server.keepAliveTimeout = 120_000;
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

function passOn(
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
