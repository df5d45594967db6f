import type { Answer } from './answers.js';
import { ConnectionError, OnecodeError } from './errors.js';
import type { BodyStream, FetchInit, FetchResponse, Signal } from './fetch.js';
import type { CheckedOptions } from './options.js';
import { userAgent } from './runtime.js';
import { startTimeLimit, throwIfAborted } from './timeLimit.js';

interface Request {
  method: 'GET' | 'POST';
  /** The path after the service's address, with its leading slash. */
  path: string;
  /** The path for error messages, without an id. */
  route: string;
  headers?: Record<string, string>;
  body?: string;
  /** The remaining time of the call, if it may be less than `timeoutMs`. */
  leftMs?: number;
  /** Omits the API key. */
  anonymous?: boolean;
  /** Sends the body as a stream: `fetch` cannot read it twice, so it cannot send it twice. */
  once?: boolean;
}

/** Makes one request and reads its response. */
export type Exchange = (request: Request, signal?: Signal) => Promise<Answer>;

/** Responses of the contract have less than a kilobyte. */
const BODY_BYTES_MAX = 256 * 1024;

/**
 * Returns the function that makes every request: one `fetch` each, one time limit for headers and body together, no redirects followed. It
 * keeps the key private, and redacts it in responses and errors.
 *
 * It throws a ConnectionError when no complete response arrived, with the system's code as its cause if nothing was sent, and the reason of
 * an aborted signal.
 */
export function createExchange({ apiKey, baseUrl, timeoutMs, fetch }: CheckedOptions): Exchange {
  const agent = userAgent();
  const withoutKey = (text: string): string => text.replaceAll(apiKey, '[API key]');

  return async (request, signal) => {
    throwIfAborted(signal);
    const limitMs = Math.min(timeoutMs, request.leftMs ?? timeoutMs);
    const limit = startTimeLimit(limitMs, signal);
    let status: number | undefined;
    try {
      const headers = headersOf(request, agent, apiKey);
      const init = initOf(request, headers, limit.signal);
      const response = await limit.race(async () => fetch(`${baseUrl}${request.path}`, init));
      ({ status } = response);
      const text = await limit.race(() => readText(response));
      return answerOf(response, text, withoutKey);
    } catch (error) {
      throwIfAborted(signal);
      const why = limit.isOver() ? `no answer within ${limitMs} ms` : reasonOf(error);
      throw new ConnectionError(
        `${request.method} ${request.route}: ${why}`,
        { status },
        { cause: unsentCodeOf(error) },
      );
    } finally {
      limit.end();
    }
  };
}

function headersOf(
  { headers, body, anonymous, once }: Request,
  agent: string,
  apiKey: string,
): Record<string, string> {
  return {
    accept: 'application/json, application/problem+json',
    'user-agent': agent,
    ...(anonymous !== true && { authorization: `Bearer ${apiKey}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    // Without a length, a stream would be sent in chunks.
    ...(body !== undefined && once === true && { 'content-length': String(bytesOf(body).byteLength) }),
    ...headers,
  };
}

function initOf(
  { method, body, once }: Request,
  headers: Record<string, string>,
  signal: AbortSignal,
): FetchInit {
  return {
    method,
    headers,
    ...(body !== undefined && (once === true ? { body: streamOf(body), duplex: 'half' } : { body })),
    // Never send the key to another host.
    redirect: 'manual',
    // If credentials are enabled, some releases of undici repeat the request after a 401, or lose the response.
    credentials: 'omit',
    // Frameworks that wrap `fetch` cache its responses, but a send changes.
    cache: 'no-store',
    signal,
  };
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

function streamOf(text: string): BodyStream {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytesOf(text));
      controller.close();
    },
  });
}

/** @throws when the body is cut off, is not UTF-8, or is longer than any response of the contract */
async function readText(response: FetchResponse): Promise<string> {
  const body = response.body as ReadableStream<Uint8Array> | null | undefined;
  if (typeof body?.getReader !== 'function') return response.text();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const reader = body.getReader();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > BODY_BYTES_MAX) throw new OnecodeError('the answer is too long');
    text += decoder.decode(value, { stream: true });
  }
}

function answerOf(
  { status, headers }: FetchResponse,
  text: string,
  withoutKey: (text: string) => string,
): Answer {
  const requestId = headers.get('x-request-id');
  const dateMs = Date.parse(headers.get('date') ?? '');
  return {
    status,
    mediaType: (headers.get('content-type') ?? '').replace(/;.*$/s, '').trim().toLowerCase(),
    body: parsed(text, withoutKey),
    requestId: requestId === null ? undefined : withoutKey(requestId),
    dateMs: Number.isNaN(dateMs) ? undefined : dateMs,
    retryAfterSeconds: retryAfterSeconds(headers.get('retry-after'), dateMs),
  };
}

/** @returns undefined if the text is not JSON */
function parsed(text: string, withoutKey: (text: string) => string): unknown {
  try {
    // Serialize it again first: escapes could hide the key.
    return JSON.parse(withoutKey(JSON.stringify(JSON.parse(text))));
  } catch {
    return undefined;
  }
}

/** Returns `Retry-After` in seconds. A date counts from the server clock if it is known (RFC 9110, 10.2.3). */
function retryAfterSeconds(header: string | null, dateMs: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  // `Date.parse` finds a year in nearly any text.
  if (!header.endsWith(' GMT')) return undefined;
  const ms = Date.parse(header) - (Number.isNaN(dateMs) ? Date.now() : dateMs);
  return Number.isNaN(ms) ? undefined : Math.max(0, Math.ceil(ms / 1000));
}

/**
 * Returns the reason of a failed `fetch`: the system's code, which Node puts into the cause, or the option that this `fetch` does not
 * support, as in Workers with an old compatibility date. Messages are left out, because a caller's `fetch` may put the request into them.
 */
function reasonOf(error: unknown): string {
  if (error instanceof OnecodeError) return error.message;
  const found = systemCodeOf(error);
  if (found !== undefined) return `the connection failed (${found})`;
  const option = REFUSED_OPTION.exec(String((Object(error) as { message?: unknown }).message))?.[1];
  return option === undefined ? 'the connection failed' : `this fetch refuses the option ${option}`;
}

/** `The 'cache' field on 'RequestInitializerDict' is not implemented.`, `Unsupported cache mode: no-store`, … */
const REFUSED_OPTION = /\b(redirect|credentials|cache|duplex)\b'? (?:field|mode|option|property|value)/;

function systemCodeOf(error: unknown): string | undefined {
  const { code, cause } = Object(error) as { code?: unknown; cause?: unknown };
  return [code, (Object(cause) as { code?: unknown }).code].find(isSystemCode);
}

const UNSENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

/** Returns the system's code if there was no connection to write to. Runtimes other than Node do not report it. */
function unsentCodeOf(error: unknown): string | undefined {
  const code = systemCodeOf(error);
  const { cause } = Object(error) as { cause?: unknown };
  // With several addresses, each has its own error.
  const { syscall, errors } = Object(cause) as { syscall?: unknown; errors?: { syscall?: unknown }[] };
  const isUnsent = (syscall ?? errors?.[0]?.syscall) === 'connect' || UNSENT.has(code ?? '');
  return isUnsent ? code : undefined;
}

const isSystemCode = (code: unknown): code is string =>
  typeof code === 'string' && /^[A-Z][A-Z_0-9]*$/.test(code);
