import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';

/**
 * How one POST ended.
 * - `answered`: the whole answer was read.
 * - `unsent`: nothing was written, so the provider cannot have acted on it.
 * - `lost`: the request was, or may have been, written, and its answer is not known.
 */
export type ExchangeEnd =
  | { end: 'answered'; status: number; headers: Headers; text: string }
  | { end: 'unsent'; reason: string }
  | { end: 'lost'; reason: string };

interface Post {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** For the whole exchange, from looking up the name to the last byte of the answer. */
  timeoutMs: number;
}

const ANSWER_BYTES_MAX = 64 * 1024;

/** Makes one POST. Never throws, never follows a redirect, and ends within `timeoutMs`. */
export async function post({ url, headers, body, timeoutMs }: Post): Promise<ExchangeEnd> {
  const trace: Trace = { seen: false, written: false };
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    return await traces.run(trace, async () => {
      const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' });
      const { status, headers: answered } = response;
      if (status >= 300 && status <= 399) {
        await response.body?.cancel();
        return { end: 'answered', status, headers: answered, text: '' };
      }
      const text = await readText(response);
      if (text === null) return { end: 'lost', reason: "The provider's answer was too long to read." };
      return { end: 'answered', status, headers: answered, text };
    });
  } catch (error) {
    if (trace.seen && !trace.written) return { end: 'unsent', reason: whyUnsent(signal, error) };
    const reason = signal.aborted
      ? 'The provider did not answer in time.'
      : 'The connection broke before the provider had answered.';
    return { end: 'lost', reason };
  }
}

/** The body as text, or null if it is longer than 64 KiB; the connection is then closed. */
async function readText(response: Response): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > ANSWER_BYTES_MAX) return null;
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/** `fetch` puts what the network said into `cause`. Its message is not repeated: it can name addresses. */
function whyUnsent(signal: AbortSignal, error: unknown): string {
  if (signal.aborted) return 'No connection to the provider could be made in time.';
  switch ((error as { cause?: { code?: unknown } } | null)?.cause?.code) {
    case 'ECONNREFUSED':
      return 'The provider refused the connection.';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return "The provider's host name could not be resolved.";
    default:
      return 'No usable connection to the provider could be made.';
  }
}

/**
 * What is known about one request. `fetch` itself does not tell a time-out while connecting from one while waiting for the
 * answer, and only the second may have sent a message; the client inside Node says so on its diagnostics channels. A request
 * that they never showed (`seen` is false) counts as written, so that silence on the channels can never look like safety.
 */
interface Trace {
  seen: boolean;
  written: boolean;
}

const traces = new AsyncLocalStorage<Trace>();
const traceOfRequest = new WeakMap<object, Trace>();

subscribe('undici:request:create', (message) => {
  const trace = traces.getStore();
  if (trace === undefined) return;
  trace.seen = true;
  traceOfRequest.set((message as { request: object }).request, trace);
});

// Published right before the first byte is written. A pooled connection runs in another request's context: hence the map.
subscribe('undici:client:sendHeaders', (message) => {
  const trace = traceOfRequest.get((message as { request: object }).request);
  if (trace !== undefined) trace.written = true;
});
