import type { MessageStatus, Outcome } from '@onecode/domain';
import { EnvHttpProxyAgent, Pool, type Dispatcher } from 'undici';
import { classifyError, retry, unknown } from './errors.js';
import { errorNumber, members, objects, parseJson, storableText } from './json.js';
import { messageBody, messageIdOf, type AuthenticationMessage } from './message.js';

export interface CloudApiOptions {
  /** The address including the version, without a query: `https://graph.facebook.com/v25.0`. The configuration checks it. */
  baseUrl: string;
  /** The time limit of a whole call, including the reading of the response. */
  timeoutMs: number;
  /** The values of HTTPS_PROXY and NO_PROXY, used only for an https address. */
  proxy?: {
    /** Empty for none. */
    url: string;
    /** Hosts that are called directly, separated by commas: names (including their subdomains), `name:port`, or `*`. */
    except: string;
  };
}

/** A WhatsApp number to send from, with its decrypted access token. */
export interface CloudApiSender {
  phoneNumberId: string;
  token: string;
}

/** Calls a node of Meta's API: with POST if the request has a body, otherwise with GET. */
type Call<Result> = (
  token: string,
  node: string,
  request: { query: Record<string, string> } | { body: object },
) => Promise<Result>;

/** Calls a node of the Graph API. Never throws. */
export type GraphCall = Call<GraphResult>;

export type GraphResult<Value = Record<string, unknown>> = { value: Value } | GraphFailure;

/** Why a call to Meta's Graph API failed. It never contains the token. */
export interface GraphFailure {
  /** A sentence with the error's code and the HTTP status, or the reason without a response. */
  failure: string;
  /** Meta's message for users; null without one. */
  quote: string | null;
  code: number | null;
  subcode: number | null;
}

export interface CloudApi {
  /** The time limit of a call. */
  readonly timeoutMs: number;
  /** Sends a code once. Never throws: every result is an `Outcome`, which contains no token, code or phone number. */
  sendCode(sender: CloudApiSender, message: AuthenticationMessage): Promise<Outcome>;
  call: GraphCall;
}

/** Creates a client for Meta's Cloud API and the rest of its Graph API. */
export function createCloudApi(options: CloudApiOptions): CloudApi {
  const exchange = openExchanges(options);
  return {
    timeoutMs: options.timeoutMs,
    sendCode: async ({ phoneNumberId, token }, message) =>
      outcomeOf(await exchange(token, `${phoneNumberId}/messages`, { body: messageBody(message) })),
    call: async (token, ...request) => resultOf(await exchange(token, ...request), token),
  };
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

function outcomeOf(end: ExchangeEnd): Outcome {
  if (end.end !== 'answered') {
    const fault = end.end === 'unsent' ? retry(end.reason) : unknown(end.reason);
    return { ...fault, errorCode: null };
  }
  const { status, headers, value } = end;
  const { messages, error } = members(value);
  const [{ id, message_status: messageStatus } = {}] = objects(messages);
  const messageId = messageIdOf(id);
  if (isSuccess(status) && messageId !== null)
    return { kind: 'accepted', messageId, ...(isHeld(messageStatus) && { messageStatus }) };

  const failure = classifyError(status, error);
  return failure.kind === 'retry' ? { ...failure, retryAfterSeconds: retryAfterSeconds(headers) } : failure;
}

/** Returns whether Meta accepted a message but holds it. The message's receipts report the result. */
const isHeld = (status: unknown): status is MessageStatus =>
  status === 'held_for_quality_assessment' || status === 'paused';

/** Returns the wait in seconds that Meta requests; null without one, or if the header has a date. */
function retryAfterSeconds({ 'retry-after': seconds }: ResponseHeaders): number | null {
  return typeof seconds === 'string' && /^\d+$/.test(seconds) ? Number(seconds) : null;
}

const withoutAnswer = (failure: string): GraphFailure => ({
  failure,
  quote: null,
  code: null,
  subcode: null,
});

function resultOf(end: ExchangeEnd, token: string): GraphResult {
  if (end.end !== 'answered') return withoutAnswer(end.reason);
  const { status, value } = end;
  if (isSuccess(status) && value === undefined)
    return withoutAnswer(
      `The answer (HTTP ${status}) is not JSON, so it is not from Meta: check the address and the proxy.`,
    );
  const answer = members(value);
  if (isSuccess(status) && answer['error'] === undefined) return { value: answer };
  const error = members(answer['error']);
  const code = errorNumber(error['code']);
  const subcode = errorNumber(error['error_subcode']);
  const numbers = [
    ...(code === null ? [] : [`error ${code}`]),
    ...(subcode === null ? [] : [`subcode ${subcode}`]),
    `HTTP ${status}`,
  ];
  return {
    failure: `Meta refused the call (${numbers.join(', ')}).`,
    quote: quoteOf(error, token),
    code,
    subcode,
  };
}

/** Returns Meta's message for users, or else its message for developers, on one line and without the token; null without one. */
function quoteOf(error: Record<string, unknown>, token: string): string | null {
  const { error_user_title: title, error_user_msg: text, message, error_data: data } = error;
  const words = title || text ? [title, text] : [message, members(data)['details']];
  const known = words.filter((one) => typeof one === 'string' && one !== '');
  const line = storableText(known.join(': ').replaceAll(token, '…')).replaceAll(/\s+/g, ' ').trim();
  return line === '' ? null : line;
}

const PAGE_ITEMS = 100;
const PAGES_MAX = 50;

/** Reads the items of a list, page by page, up to 5,000. */
export async function readList(
  call: GraphCall,
  token: string,
  node: string,
  query: Record<string, string>,
): Promise<GraphResult<Record<string, unknown>[]>> {
  const items: Record<string, unknown>[] = [];
  let position: { after?: string } = {};
  for (let page = 0; page < PAGES_MAX; page++) {
    const result = await call(token, node, { query: { ...query, limit: String(PAGE_ITEMS), ...position } });
    if ('failure' in result) return result;
    const { data, paging } = result.value;
    items.push(...objects(data));
    const { cursors, next } = members(paging);
    const { after } = members(cursors);
    if (typeof next !== 'string' || typeof after !== 'string') break;
    position = { after };
  }
  return { value: items };
}

/** The headers of a response, by lower-case name. A repeated header is a list. */
type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * The result of one exchange.
 * - `answered`: the whole response was read. Its value is undefined if it is not JSON.
 * - `unsent`: nothing was written, so the provider cannot have acted on the request.
 * - `lost`: the request was or may have been written, and its response is unknown.
 */
type ExchangeEnd =
  | { end: 'answered'; status: number; headers: ResponseHeaders; value: unknown }
  | { end: 'unsent' | 'lost'; reason: string };

/** The longest responses are pages of templates. */
const ANSWER_BYTES_MAX = 2 * 1024 * 1024;

/**
 * Returns a function that makes requests to Meta's API, each concurrent request on its own connection. A request never throws, follows no
 * redirect, is written at most once, and ends within `timeoutMs`, which covers everything from the DNS look-up to the last byte. Idle
 * connections are kept for a few seconds. They do not keep the process running and need not be closed.
 */
function openExchanges({
  baseUrl,
  timeoutMs,
  proxy = { url: '', except: '' },
}: CloudApiOptions): Call<ExchangeEnd> {
  const { origin, pathname } = new URL(baseUrl);
  const path = pathname.replace(/\/$/, '');
  const dispatcher = new EnvHttpProxyAgent({
    httpProxy: '',
    httpsProxy: proxy.url,
    noProxy: proxy.except,
    proxyTls: { timeout: timeoutMs },
    // Limits the proxy's response to CONNECT.
    clientFactory: (url, options) => new Pool(url, { ...options, headersTimeout: timeoutMs }),
    connect: { timeout: timeoutMs },
    // `exchangeHandler` has its own time limit.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: ANSWER_BYTES_MAX,
  });
  return (token, node, request) =>
    new Promise((resolve) => {
      // Empty if the stored token cannot be decrypted.
      if (!/^[\x21-\x7e]+$/.test(token))
        return resolve({ end: 'unsent', reason: 'The access token cannot be put in a header.' });
      const query = 'query' in request ? `?${new URLSearchParams(request.query).toString()}` : '';
      const body = 'body' in request ? JSON.stringify(request.body) : null;
      const method = body === null ? 'GET' : 'POST';
      const headers = {
        authorization: `Bearer ${token}`,
        'accept-encoding': 'identity',
        ...(body !== null && { 'content-type': 'application/json' }),
      };
      dispatcher.dispatch(
        { origin, method, path: `${path}/${node}${query}`, headers, body },
        exchangeHandler(timeoutMs, resolve),
      );
    });
}

/**
 * Returns the callbacks of one request, which call `resolve` with its result. Undici calls `onRequestStart` when a connection is ready,
 * right before it writes the first byte. Before that call nothing was sent; after it, the request may have arrived. `fetch` does not
 * distinguish the two.
 *
 * @param resolve of a promise, which ignores all results but the first
 */
function exchangeHandler(timeoutMs: number, resolve: (end: ExchangeEnd) => void): Dispatcher.DispatchHandler {
  let started: Dispatcher.DispatchController | undefined;
  let hasEnded = false;
  let response: { status: number; headers: ResponseHeaders } = { status: 0, headers: {} };
  const chunks: Buffer[] = [];

  const end = (result: ExchangeEnd): void => {
    hasEnded = true;
    clearTimeout(timer);
    resolve(result);
  };
  const abort = (): void => started?.abort(new Error('the exchange has ended'));
  const fail = (whyLost: string, whyUnsent: string): void => {
    end(started === undefined ? { end: 'unsent', reason: whyUnsent } : { end: 'lost', reason: whyLost });
    abort();
  };
  const timer = setTimeout(
    fail,
    timeoutMs,
    'The provider did not respond in time.',
    'No connection to the provider could be made in time.',
  );
  return {
    onRequestStart(controller) {
      started = controller;
      // The time limit expired while the request waited for a connection. It was reported as `unsent`, so it must not be written.
      if (hasEnded) abort();
    },
    onResponseStart(_, status, headers) {
      response = { status, headers };
    },
    onResponseData(_, chunk) {
      chunks.push(chunk);
    },
    onResponseEnd() {
      end({ end: 'answered', ...response, value: parseJson(Buffer.concat(chunks).toString()) });
    },
    onResponseError(_, error) {
      fail('The connection broke before the whole response was read.', whyUnsent(error));
    },
  };
}

/** Returns the reason for a network error, with its code. The error's own message is not used, because it can contain addresses. */
function whyUnsent(error: unknown): string {
  const { code } = error as { code?: unknown };
  if (code === 'UND_ERR_ABORTED') return 'The proxy refused to connect to the provider.';
  const cause = typeof code === 'string' && /^[A-Z0-9_]+$/.test(code) ? ` (${code})` : '';
  return `No connection to the provider could be made${cause}.`;
}
