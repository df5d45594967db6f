import { createHmac } from 'node:crypto';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Scope, Timers } from './timers.js';

/** When a webhook that was not answered with 200 is posted again. */
export interface Retry {
  /** How often one webhook is posted at most. */
  attempts: number;
  /** The wait after the second attempt; the first repeat comes at once, and each later wait is twice as long. */
  firstDelayMs: number;
  delayMsMax: number;
}

export interface WebhookCounts {
  /** Answered with 200. */
  delivered: number;
  /** Still to be posted, for the first time or again. */
  waiting: number;
  /** Given up after the last attempt, or because too many wait. */
  abandoned: number;
}

const WAITING_MAX = 100_000;
const ANSWER_TIMEOUT_MS = 10_000;

/** JSON as Meta writes it before signing: everything outside ASCII as `\uXXXX`, and `/` as `\/`. */
export function metaJson(payload: unknown): string {
  return JSON.stringify(payload)
    .replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replaceAll('/', '\\/');
}

/** The value of `X-Hub-Signature-256` for these exact bytes. */
export function signatureOf(appSecret: string, rawBody: string): string {
  return `sha256=${createHmac('sha256', appSecret).update(rawBody).digest('hex')}`;
}

/** Posts signed webhooks, again and again until they are answered with 200, within bounds. */
export class Webhooks {
  readonly #appSecret: string;
  readonly #retry: Retry;
  readonly #timers: Timers;
  readonly #changed: () => void;
  readonly #http = new HttpAgent({ keepAlive: true, maxSockets: 32 });
  readonly #https = new HttpsAgent({ keepAlive: true, maxSockets: 32 });
  #counts: WebhookCounts = { delivered: 0, waiting: 0, abandoned: 0 };
  #lastFailure: string | null = null;

  /** Where webhooks go. Repeats go to the address of the time, not to the one of their first attempt. */
  url: URL | null;

  constructor(options: {
    appSecret: string;
    url: URL | null;
    retry: Retry;
    timers: Timers;
    changed: () => void;
  }) {
    this.#appSecret = options.appSecret;
    this.url = options.url;
    this.#retry = options.retry;
    this.#timers = options.timers;
    this.#changed = options.changed;
  }

  counts(): WebhookCounts {
    return { ...this.#counts };
  }

  /** Why the latest attempt that failed did so, in words; `null` when none did. */
  get lastFailure(): string | null {
    return this.#lastFailure;
  }

  /**
   * Posts a payload. Resolves with the HTTP status of the first attempt, `null` without an answer (or without an address);
   * repeats go on by themselves.
   */
  async post(payload: unknown): Promise<number | null> {
    if (this.url === null) return null;
    if (this.#counts.waiting >= WAITING_MAX) {
      this.#counts.abandoned += 1;
      return null;
    }
    const { scope } = this.#timers;
    const rawBody = metaJson(payload);
    this.#counts.waiting += 1;
    const status = await this.#attempt(rawBody);
    if (status === 200) this.#settle(scope, 'delivered');
    else void this.#repeat(scope, rawBody);
    return status;
  }

  async #repeat(scope: Scope, rawBody: string): Promise<void> {
    for (let attempt = 2; attempt <= this.#retry.attempts; attempt += 1) {
      const delayMs = attempt === 2 ? 0 : this.#retry.firstDelayMs * 2 ** (attempt - 3);
      if (!(await scope.sleep(Math.min(delayMs, this.#retry.delayMsMax)))) return;
      if ((await this.#attempt(rawBody)) === 200) return this.#settle(scope, 'delivered');
    }
    this.#settle(scope, 'abandoned');
  }

  #settle(scope: Scope, as: 'delivered' | 'abandoned'): void {
    if (scope.ended) return;
    this.#counts.waiting -= 1;
    this.#counts[as] += 1;
    this.#changed();
  }

  #attempt(rawBody: string): Promise<number | null> {
    return new Promise((resolve) => {
      const url = this.url;
      if (url === null) return resolve(null);
      const fail = (reason: string) => {
        this.#lastFailure = reason;
        this.#changed();
      };
      const secure = url.protocol === 'https:';
      const request = (secure ? httpsRequest : httpRequest)(
        url,
        {
          method: 'POST',
          agent: secure ? this.#https : this.#http,
          timeout: ANSWER_TIMEOUT_MS,
          headers: {
            'Content-Type': 'application/json',
            'Content-Length': Buffer.byteLength(rawBody),
            'User-Agent': 'facebookexternalua',
            'X-Hub-Signature-256': signatureOf(this.#appSecret, rawBody),
          },
        },
        (response) => {
          const status = response.statusCode ?? null;
          if (status !== 200) fail(`answered ${status}`);
          response.resume();
          response.once('close', () => resolve(status));
        },
      );
      request.once('timeout', () => request.destroy(new Error('no answer in time')));
      request.once('error', (error: NodeJS.ErrnoException) => {
        fail(error.code ?? error.message);
        resolve(null);
      });
      request.end(rawBody);
    });
  }

  /** Forgets the counts. What is under way belongs to the timers' old scope, and no longer counts. */
  reset(): void {
    this.#counts = { delivered: 0, waiting: 0, abandoned: 0 };
    this.#lastFailure = null;
  }

  close(): void {
    this.url = null;
    this.#http.destroy();
    this.#https.destroy();
  }
}
