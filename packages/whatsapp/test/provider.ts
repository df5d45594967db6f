import type { Outcome } from '@onecode/domain';
import { createCloudApi } from '../src/client.js';
import type { AuthenticationMessage } from '../src/index.js';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';

interface ReceivedRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface Provider {
  baseUrl: string;
  port: number;
  requests: ReceivedRequest[];
}

type Answer = (response: ServerResponse, request: ReceivedRequest) => void;

const open: Array<() => Promise<void>> = [];

/** Closes every server that the tests of a file have started. */
export async function closeProviders(): Promise<void> {
  await Promise.all(open.splice(0).map((close) => close()));
}

/** Starts an HTTP server on a free port of this machine. It reads and stores each request, and then calls `answer`. */
export async function startProvider(answer: Answer): Promise<Provider> {
  const requests: ReceivedRequest[] = [];
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const received = { method, url, headers, body: Buffer.concat(chunks).toString() };
      requests.push(received);
      answer(response, received);
    });
  };
  const port = await listen(createServer(listener));
  return { baseUrl: `http://127.0.0.1:${port}/v25.0`, port, requests };
}

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return (server.address() as AddressInfo).port;
}

export const SENDER = { phoneNumberId: '106540352242922', token: 'leaked-token' };
export const MESSAGE: AuthenticationMessage = {
  to: '+5511987654321',
  code: '042913',
  template: 'verification_code',
  language: 'pt_BR',
  attempt: { sendId: '0190a6f2-5c1d-7b3e-9f00-1234567890ab', number: 2 },
  identityHash: null,
};
export const ACCEPTED = { messages: [{ id: 'wamid.ABC=' }] };

/** Sends a code to a provider with this response. */
export async function sendTo(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Outcome> {
  const provider = await startProvider((response) => {
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  return send(provider.baseUrl);
}

/** Sends a code to this address. */
export function send(baseUrl: string, timeoutMs = 5_000, message = MESSAGE): Promise<Outcome> {
  return createCloudApi({ baseUrl, timeoutMs }).sendCode(SENDER, message);
}
