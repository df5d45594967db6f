import {
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { startLocalServer, type LocalServer } from './localServer.js';

/** A request to the provider that the tap received. */
export interface TappedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A response of the tap in place of the provider. */
export interface TapAnswer {
  status: number;
  body: string;
}

/** Returns the tap's response to a request, or null to pass it on. */
export type AnswerInstead = (request: TappedRequest) => TapAnswer | null | Promise<TapAnswer | null>;

/** A proxy in front of the provider that records every request. It passes on requests, responses and connection faults. */
export interface ProviderTap extends LocalServer {
  requests: TappedRequest[];
}

/**
 * Starts a tap on a free port.
 *
 * @param target the provider's address without a path
 * @param answerInstead returns the tap's response, or null to pass the request on; the request waits for it
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
  const server = await startLocalServer((incoming, response) => {
    answer(incoming, response).catch(() => response.destroy());
  });
  return { ...server, requests };
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
