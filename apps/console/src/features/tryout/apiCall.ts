import * as http from 'node:http';
import * as https from 'node:https';
import { isIP } from 'node:net';
import { VERSION } from '@onecode/runtime';

/** How long the API may take for a whole answer. */
const CALL_MS_MAX = 8_000;
/** More than any answer of the API. */
const ANSWER_BYTES_MAX = 64 * 1024;

type Header = readonly [name: string, value: string];

/** A request to the API, byte by byte. */
export interface ApiRequest {
  method: 'GET' | 'POST';
  /** With the path of the API's address before it. */
  path: string;
  /** All of them, in the order in which they are sent. */
  headers: readonly Header[];
  body: string | null;
}

export interface ApiAnswer {
  httpVersion: string;
  status: number;
  statusText: string;
  headers: Header[];
  body: string;
}

/** Why there is no answer. After each of them but `unreachable`, the request may have been carried out. */
export type ApiFault = 'unreachable' | 'broken' | 'timed_out' | 'too_large';

/** Builds a request. Its host is that of the public address, which is what callers send, and not the one within a private network. */
export function apiRequest(
  { apiUrl, publicUrl }: { apiUrl: string; publicUrl: string },
  call: { method: 'GET' | 'POST'; path: string; key: string; body: string | null; idempotencyKey?: string },
): ApiRequest {
  const { method, path, key, body, idempotencyKey } = call;
  return {
    method,
    path: new URL(apiUrl).pathname.replace(/\/$/, '') + path,
    headers: [
      ['Host', new URL(publicUrl).host],
      ['User-Agent', `onecode-console/${VERSION}`],
      ['Accept', 'application/json'],
      ['Authorization', `Bearer ${key}`],
      ...(idempotencyKey === undefined ? [] : [['Idempotency-Key', idempotencyKey] as const]),
      ...(body === null
        ? []
        : [
            ['Content-Type', 'application/json'] as const,
            ['Content-Length', String(Buffer.byteLength(body))] as const,
          ]),
      ['Connection', 'close'],
    ],
    body,
  };
}

/** Makes a request to the API, on a connection of its own. It is made once, and no redirect is followed. */
export async function callApi(apiUrl: string, request: ApiRequest): Promise<ApiAnswer | ApiFault> {
  const { protocol, hostname, port } = new URL(apiUrl);
  const host = hostname.replace(/^\[|\]$/g, '');
  const signal = AbortSignal.timeout(CALL_MS_MAX);
  return new Promise((resolve) => {
    let isSent = false;
    const fail = (): void => resolve(faultOf(signal, isSent));
    const sent = (protocol === 'https:' ? https : http).request({
      host,
      ...(port !== '' && { port }),
      // The certificate is that of the address, whatever host the request names.
      ...(isIP(host) === 0 && { servername: host }),
      method: request.method,
      path: request.path,
      headers: request.headers.flat(),
      agent: false,
      signal,
    });
    sent.on('error', fail);
    sent.on('finish', () => {
      isSent = true;
    });
    sent.on('response', (response) => {
      readAnswer(response).then(resolve, fail);
    });
    sent.end(request.body ?? undefined);
  });
}

function faultOf(signal: AbortSignal, isSent: boolean): ApiFault {
  if (signal.aborted) return 'timed_out';
  return isSent ? 'broken' : 'unreachable';
}

async function readAnswer(response: http.IncomingMessage): Promise<ApiAnswer | 'too_large'> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > ANSWER_BYTES_MAX) {
      response.destroy();
      return 'too_large';
    }
    parts.push(part);
  }
  const { rawHeaders, httpVersion, statusCode = 0, statusMessage = '' } = response;
  return {
    httpVersion,
    status: statusCode,
    statusText: statusMessage,
    headers: rawHeaders.flatMap((name, index) =>
      index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as const] : [],
    ),
    body: Buffer.concat(parts).toString('utf8'),
  };
}
