import { randomInt } from 'node:crypto';
import type { Timers } from './timers.js';

/** `off` without a verify token; `waiting` until the receiver has answered the challenge. */
export interface HandshakeState {
  state: 'off' | 'waiting' | 'passed';
  /** Why the latest try failed, in words. */
  reason: string | null;
}

const FIRST_DELAY_MS = 250;
const DELAY_MS_MAX = 5000;
const ANSWER_TIMEOUT_MS = 5000;

/** The GET by which Meta makes sure that a webhook address is its owner's, repeated until it passes. */
export class Handshake {
  readonly #verifyToken: string | null;
  readonly #timers: Timers;
  readonly #changed: () => void;
  #current: HandshakeState = { state: 'off', reason: null };
  #run = 0;

  constructor(options: { verifyToken: string | null; timers: Timers; changed: () => void }) {
    this.#verifyToken = options.verifyToken;
    this.#timers = options.timers;
    this.#changed = options.changed;
  }

  get current(): HandshakeState {
    return { ...this.#current };
  }

  /** Starts over with this address; an earlier run ends. */
  start(url: URL | null): void {
    this.#run += 1;
    const verifyToken = this.#verifyToken;
    if (url === null || verifyToken === null) this.#set('off', null);
    else void this.#repeat(this.#run, url, verifyToken);
  }

  async #repeat(run: number, url: URL, verifyToken: string): Promise<void> {
    const { scope } = this.#timers;
    this.#set('waiting', null);
    for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, DELAY_MS_MAX)) {
      const reason = await challenge(url, verifyToken);
      if (scope.ended || run !== this.#run) return;
      this.#set(reason === null ? 'passed' : 'waiting', reason);
      if (reason === null || !(await scope.sleep(delayMs))) return;
    }
  }

  #set(state: HandshakeState['state'], reason: string | null): void {
    this.#current = { state, reason };
    this.#changed();
  }
}

/** One try; `null` when it passed, else why not. */
async function challenge(url: URL, verifyToken: string): Promise<string | null> {
  const expected = String(randomInt(1_000_000_000, 2_000_000_000));
  const asked = new URL(url);
  asked.searchParams.set('hub.mode', 'subscribe');
  asked.searchParams.set('hub.challenge', expected);
  asked.searchParams.set('hub.verify_token', verifyToken);
  try {
    const response = await fetch(asked, {
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    const body = await response.text();
    if (response.status !== 200) return `answered ${response.status}`;
    return body === expected ? null : 'answered something else than the challenge';
  } catch {
    return 'no answer';
  }
}
