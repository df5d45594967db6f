import { EnvHttpProxyAgent, Pool, type Dispatcher } from 'undici';

/** The headers of a response, by lower-case name. A repeated header is a list. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * The result of one exchange.
 * - `answered`: the whole response was read.
 * - `unsent`: nothing was written, so the provider cannot have acted on the request.
 * - `lost`: the request was or may have been written, and its response is unknown.
 */
export type ExchangeEnd =
  | { end: 'answered'; status: number; headers: AnswerHeaders; text: string }
  | { end: 'unsent' | 'lost'; reason: string };

/** The longest responses are pages of templates. */
const ANSWER_BYTES_MAX = 2 * 1024 * 1024;
const UTF8 = new TextDecoder();

/** The values of HTTPS_PROXY and NO_PROXY. */
interface Proxy {
  /** Empty for none. */
  url: string;
  /** Hosts that are called directly, separated by commas: names (including their subdomains), `name:port`, or `*`. */
  except: string;
}

/** Returns whether a proxy may be used for this address: only for https, and never for this machine, regardless of the environment. */
export function mayUseProxy(url: string): boolean {
  return url.startsWith('https://') && !LOOPBACK.test(new URL(url).hostname);
}

const LOOPBACK = /^(?:(?:.+\.)?localhost|127\.[\d.]+|\[::1\])$/;

export interface CloudApiOptions {
  /** The address including the version, without a query: `https://graph.facebook.com/v25.0`. The configuration checks it. */
  baseUrl: string;
  /** The time limit of a whole call, including the reading of the response. */
  timeoutMs: number;
  /** Used only for addresses that `mayUseProxy` accepts. */
  proxy?: Proxy;
}

/** Makes one request for a node of Meta's API: a POST with the body, otherwise a GET. */
export type Exchanger = (
  token: string,
  node: string,
  request: { query: Record<string, string> } | { body: object },
) => Promise<ExchangeEnd>;

/**
 * Returns a function that makes requests to Meta's API, each concurrent request on its own connection. A request never throws, follows no
 * redirect, is written at most once, and ends within `timeoutMs`, which covers everything from the DNS look-up to the last byte. Idle
 * connections are kept for a few seconds. They do not keep the process running and need not be closed.
 */
export function openExchanges({
  baseUrl,
  timeoutMs,
  proxy = { url: '', except: '' },
}: CloudApiOptions): Exchanger {
  const { origin, pathname } = new URL(baseUrl);
  const path = pathname.replace(/\/$/, '');
  // `Exchange` has its own time limit.
  const limits = { headersTimeout: 0, bodyTimeout: 0, maxResponseSize: ANSWER_BYTES_MAX };
  const isProxied = proxy.url !== '' && mayUseProxy(origin);
  const dispatcher = isProxied
    ? new EnvHttpProxyAgent({
        httpProxy: '',
        httpsProxy: proxy.url,
        noProxy: proxy.except,
        proxyTls: { timeout: timeoutMs },
        // Limits the proxy's response to CONNECT.
        clientFactory: (url, options) => new Pool(url, { ...options, headersTimeout: timeoutMs }),
        ...limits,
      })
    : new Pool(origin, { connect: { timeout: timeoutMs }, ...limits });
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
        new Exchange(timeoutMs, resolve),
      );
    });
}

/**
 * One request. Undici calls `onRequestStart` when a connection is ready, right before it writes the first byte. Before that call nothing
 * was sent; after it, the request may have arrived. `fetch` does not distinguish the two.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #status = 0;
  #headers: AnswerHeaders = {};
  #controller: Dispatcher.DispatchController | undefined;
  #ended = false;

  constructor(
    timeoutMs: number,
    private readonly resolve: (end: ExchangeEnd) => void,
  ) {
    this.#timer = setTimeout(() => this.#onTimeout(), timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The time limit expired while the request waited for a connection. It was reported as `unsent`, so it must not be written.
    if (this.#ended) this.#abort();
  }

  onResponseStart(_: unknown, status: number, headers: AnswerHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const text = UTF8.decode(Buffer.concat(this.#chunks));
    this.#end({ end: 'answered', status: this.#status, headers: this.#headers, text });
  }

  onResponseError(_: unknown, error: unknown): void {
    this.#fail('The connection broke before the whole response was read.', whyUnsent(error));
  }

  #onTimeout(): void {
    this.#fail(
      'The provider did not respond in time.',
      'No connection to the provider could be made in time.',
    );
  }

  /** Ends without a complete response. @param whyUnsent the reason if the request had not started */
  #fail(whyLost: string, whyUnsent: string): void {
    this.#end(
      this.#controller === undefined
        ? { end: 'unsent', reason: whyUnsent }
        : { end: 'lost', reason: whyLost },
    );
    this.#abort();
  }

  /** Resolves with the first result and ignores later ones. */
  #end(end: ExchangeEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.resolve(end);
  }

  #abort(): void {
    this.#controller?.abort(new Error('the exchange has ended'));
  }
}

/** Returns the reason for a network error, with its code. The error's own message is not used, because it can contain addresses. */
function whyUnsent(error: unknown): string {
  const { code } = error as { code?: unknown };
  if (code === 'UND_ERR_ABORTED') return 'The proxy refused to connect to the provider.';
  const cause = typeof code === 'string' && /^[A-Z0-9_]+$/.test(code) ? ` (${code})` : '';
  return `No connection to the provider could be made${cause}.`;
}
