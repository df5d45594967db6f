import { createHmac, randomInt } from 'node:crypto';
import * as http from 'node:http';
import * as https from 'node:https';
import type { Scope, Timers } from './timers.js';

/** Maximum attempts per webhook. The first retry is immediate, the next after a second, and each later wait doubles. */
const ATTEMPTS = 12;
const WAIT_MS_FIRST = 1000;
const WAIT_MS_MAX = 60_000;
const ANSWER_TIMEOUT_MS = 10_000;
const HANDSHAKE_WAIT_MS_FIRST = 250;
const HANDSHAKE_WAIT_MS_MAX = 5000;

interface Status {
  /** Answered with 200. */
  delivered: number;
  /** Waiting for the first or a further attempt. */
  waiting: number;
  /** Dropped after the last attempt. */
  abandoned: number;
  /** The error of the latest failed attempt. */
  last_failure: string | null;
  /** `off` without a verify token; `waiting` until the receiver has answered the challenge. */
  handshake: { state: 'off' | 'waiting' | 'passed'; reason: string | null };
}
const STATUS: Status = {
  delivered: 0,
  waiting: 0,
  abandoned: 0,
  last_failure: null,
  handshake: { state: 'off', reason: null },
};

/** Returns JSON as Meta writes it before signing: non-ASCII characters as `\uXXXX`, and `/` as `\/`. */
export function metaJson(payload: unknown): string {
  return JSON.stringify(payload)
    .replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replaceAll('/', '\\/');
}

/** Returns the value of `X-Hub-Signature-256` for these exact bytes. */
export function signatureOf(appSecret: string, rawBody: string): string {
  return `sha256=${createHmac('sha256', appSecret).update(rawBody).digest('hex')}`;
}

/** Posts signed webhooks, with a limited number of retries until they are answered with 200, and makes Meta's handshake. */
export class Webhooks {
  readonly #client: typeof http | typeof https;
  readonly #agent: http.Agent;
  #status = STATUS;

  constructor(
    readonly appSecret: string,
    /** The address for webhooks; `null` for none. */
    readonly url: URL | null,
    readonly verifyToken: string | null,
    readonly timers: Timers,
    readonly changed: () => void,
  ) {
    this.#client = url?.protocol === 'https:' ? https : http;
    this.#agent = new this.#client.Agent({ keepAlive: true, maxSockets: 32 });
  }

  status() {
    return { url: this.url?.href ?? null, ...this.#status };
  }

  #change(change: Partial<Status>): void {
    this.#status = { ...this.#status, ...change };
    this.changed();
  }

  /** Posts a payload. Resolves with the HTTP status of the first attempt, or `null` without an answer; retries continue later. */
  async post(payload: unknown): Promise<number | null> {
    const { scope } = this.timers;
    if (this.url === null || scope.ended) return null;
    const rawBody = metaJson(payload);
    this.#change({ waiting: this.#status.waiting + 1 });
    const status = await this.#attempt(scope, this.url, rawBody);
    if (status === 200) this.#settle(scope, 'delivered');
    else void this.#repeat(scope, this.url, rawBody);
    return status;
  }

  async #repeat(scope: Scope, url: URL, rawBody: string): Promise<void> {
    for (let attempt = 2; attempt <= ATTEMPTS; attempt += 1) {
      const waitMs = attempt === 2 ? 0 : Math.min(WAIT_MS_FIRST * 2 ** (attempt - 3), WAIT_MS_MAX);
      if (!(await scope.sleep(waitMs))) return;
      if ((await this.#attempt(scope, url, rawBody)) === 200) return this.#settle(scope, 'delivered');
    }
    this.#settle(scope, 'abandoned');
  }

  #settle(scope: Scope, as: 'delivered' | 'abandoned'): void {
    if (!scope.ended) this.#change({ waiting: this.#status.waiting - 1, [as]: this.#status[as] + 1 });
  }

  #attempt(scope: Scope, url: URL, rawBody: string): Promise<number | null> {
    const recordFailure = (reason: string): void => {
      if (!scope.ended) this.#change({ last_failure: reason });
    };
    return new Promise((resolve) => {
      const headers = {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(rawBody),
        'User-Agent': 'facebookexternalua',
        'X-Hub-Signature-256': signatureOf(this.appSecret, rawBody),
      };
      const request = this.#client.request(
        url,
        { method: 'POST', agent: this.#agent, timeout: ANSWER_TIMEOUT_MS, headers },
        (response) => {
          const status = response.statusCode ?? null;
          if (status !== 200) recordFailure(`answered ${status}`);
          response.resume();
          response.once('close', () => resolve(status));
        },
      );
      request.once('timeout', () => request.destroy(new Error('timed out')));
      request.once('error', (error: NodeJS.ErrnoException) => {
        recordFailure(error.code ?? error.message);
        resolve(null);
      });
      request.end(rawBody);
    });
  }

  /** Makes the GET by which Meta verifies an address, and repeats it until it succeeds. */
  start(): void {
    if (this.url !== null && this.verifyToken !== null) void this.#verify(this.url, this.verifyToken);
  }

  async #verify(url: URL, verifyToken: string): Promise<void> {
    const { scope } = this.timers;
    this.#change({ handshake: { state: 'waiting', reason: null } });
    for (let waitMs = HANDSHAKE_WAIT_MS_FIRST; ; waitMs = Math.min(waitMs * 2, HANDSHAKE_WAIT_MS_MAX)) {
      const reason = await challenge(url, verifyToken);
      if (scope.ended) return;
      this.#change({ handshake: { state: reason === null ? 'passed' : 'waiting', reason } });
      if (reason === null || !(await scope.sleep(waitMs))) return;
    }
  }

  /** Resets the counts. Pending work belongs to the timers' old scope and is not counted any more. */
  reset(): void {
    this.#status = STATUS;
    this.start();
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Tries the handshake once. @returns `null` on success, else the reason */
async function challenge(url: URL, verifyToken: string): Promise<string | null> {
  const expected = String(randomInt(1_000_000_000, 2_000_000_000));
  const asked = new URL(url);
  asked.searchParams.set('hub.mode', 'subscribe');
  asked.searchParams.set('hub.challenge', expected);
  asked.searchParams.set('hub.verify_token', verifyToken);
  try {
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const response = await fetch(asked, { redirect: 'manual', signal });
    const body = await response.text();
    if (response.status !== 200) return `answered ${response.status}`;
    return body === expected ? null : 'the answer was not the challenge';
  } catch {
    return 'no answer';
  }
}
