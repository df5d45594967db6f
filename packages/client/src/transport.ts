import type { Answer } from './answers.js';
import { ConnectionError, OnecodeError } from './errors.js';
import type { BodyStream, FetchInit, FetchResponse, Signal } from './fetch.js';
import type { CheckedOptions } from './options.js';
import { userAgent } from './runtime.js';
import { startTimeLimit, throwIfAborted } from './timeLimit.js';

interface Request {
  method: 'GET' | 'POST';
  /** From the slash after the service's address on. */
  path: string;
  /** The path for error messages, without an id. */
  route: string;
  headers?: Record<string, string>;
  body?: string;
  /** What is left of the call's time, where that may be less than `timeoutMs`. */
  leftMs?: number;
  /** Without the key. */
  anonymous?: boolean;
  /** Sends the body as a stream: what `fetch` cannot read twice, it cannot send twice. */
  once?: boolean;
}

/** Makes one request and reads its answer. */
export type Exchange = (request: Request, signal?: Signal) => Promise<Answer>;

/** The contract's answers have less than a kilobyte. */
const BODY_BYTES_MAX = 256 * 1024;

/**
 * Makes the function that every request goes through: one `fetch` each, one time limit for headers and body together, no redirect
 * followed. The key stays in here; where an answer or an error repeats it, it is struck out.
 *
 * It throws a ConnectionError when no answer came whole, with the system's code for its cause where nothing was sent, and the reason of a
 * signal that was aborted.
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
    // A stream would otherwise go out in chunks.
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
    // The key goes to no other host.
    redirect: 'manual',
    // With credentials, releases of undici answer a 401 with the same request again, or lose it.
    credentials: 'omit',
    // Frameworks that wrap `fetch` cache what it reads, and a send changes.
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

/** @throws when the body is cut off, is no UTF-8, or is longer than any answer of the contract */
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

/** @returns undefined when the text is no JSON */
function parsed(text: string, withoutKey: (text: string) => string): unknown {
  try {
    // Written again first: escapes would hide the key.
    return JSON.parse(withoutKey(JSON.stringify(JSON.parse(text))));
  } catch {
    return undefined;
  }
}

/** `Retry-After` as seconds, or as a time, which counts from the server's clock where that is known (RFC 9110, 10.2.3). */
function retryAfterSeconds(header: string | null, dateMs: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  // `Date.parse` reads a year in nearly anything.
  if (!header.endsWith(' GMT')) return undefined;
  const ms = Date.parse(header) - (Number.isNaN(dateMs) ? Date.now() : dateMs);
  return Number.isNaN(ms) ? undefined : Math.max(0, Math.ceil(ms / 1000));
}

/**
 * The reason of a failed `fetch`: the system's code where there is one, which Node hides in the cause, or the option that this `fetch`
 * does not have, as of Workers with an old compatibility date. Messages stay out, because a `fetch` of the caller may write the request
 * into them.
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

/** The system's code where there was no connection to write to. Of other runtimes than Node it is not known. */
function unsentCodeOf(error: unknown): string | undefined {
  const code = systemCodeOf(error);
  const { cause } = Object(error) as { cause?: unknown };
  // Of several addresses, each has an error.
  const { syscall, errors } = Object(cause) as { syscall?: unknown; errors?: { syscall?: unknown }[] };
  const isUnsent = (syscall ?? errors?.[0]?.syscall) === 'connect' || UNSENT.has(code ?? '');
  return isUnsent ? code : undefined;
}

const isSystemCode = (code: unknown): code is string =>
  typeof code === 'string' && /^[A-Z][A-Z_0-9]*$/.test(code);
