import { randomUUID } from 'node:crypto';
import { metaError, type MetaError, type Refusal } from './answers.js';
import { covers, type Call } from './faults.js';
import { either, id, integer, oneOf, phone, positive, read, type ValuesOf } from './input.js';
import type { Settings } from './settings.js';

/** Scopes of throttles, with Meta's error code for each. */
const CODES = { pair: 131056, sender: 130429, business_account: 80007, app: 4 } as const;

const THROTTLE = {
  scope: oneOf('pair', 'sender', 'business_account', 'app'),
  /** Only this phone number id; all when absent. */
  sender: id,
  /** Only this recipient, E.164 with `+`; all when absent. */
  recipient: phone,
  /** Only this business account; all when absent. */
  wabaId: id,
  forMs: integer(1, 86_400_000),
  /** Answers with this status and no error code, like a server in front of Meta; with the scope's error when absent. */
  http: oneOf(429, 503),
  /** `Retry-After` in seconds; `true` for the remaining time; no header when absent. */
  retryAfter: either(oneOf(true), integer(0, 86_400)),
  /** This many calls per second are allowed. */
  ratePerSecond: positive(1000),
};

/** Refuses every call in a scope for a time. */
export type NewThrottle = Pick<ValuesOf<typeof THROTTLE>, 'scope' | 'forMs'> &
  Partial<ValuesOf<typeof THROTTLE>>;

export type Throttle = NewThrottle & {
  id: string;
  /** ISO 8601 in UTC. */
  startedAt: string;
  endsAt: string;
  /** The number of calls while it was active, and how many of them it refused. */
  calls: number;
  refused: number;
  /** The time of the latest call. */
  lastCallAt: string | null;
};

type Running = Throttle & {
  endsMs: number;
  /** The earliest time at which the next call is allowed. */
  passesMs: number;
};

/** The throttles, including ended ones with their counts. Times are milliseconds since 1970. */
export class Throttles {
  readonly #all = new Map<string, Running>();
  constructor(readonly changed: () => void) {}

  /** Starts a throttle, which may be parsed JSON. @throws {InvalidInput} */
  add(value: NewThrottle, now = Date.now()): Throttle {
    const wanted = read(value, THROTTLE, ['scope', 'forMs']);
    const throttle: Running = {
      ...wanted,
      id: randomUUID(),
      startedAt: new Date(now).toISOString(),
      endsAt: new Date(now + wanted.forMs).toISOString(),
      calls: 0,
      refused: 0,
      lastCallAt: null,
      endsMs: now + wanted.forMs,
      passesMs: wanted.ratePerSecond === undefined ? Infinity : now + 1000 / wanted.ratePerSecond,
    };
    this.#all.set(throttle.id, throttle);
    this.changed();
    return shown(throttle);
  }

  /** Returns all throttles, including ended ones, oldest first. */
  list(): Throttle[] {
    return Array.from(this.#all.values(), shown);
  }

  /** Ends a throttle and keeps its counts. @returns `false` when no active throttle has this id */
  end(throttleId: string): boolean {
    const now = Date.now();
    const throttle = this.#all.get(throttleId);
    if (!throttle || throttle.endsMs <= now) return false;
    throttle.endsMs = now;
    throttle.endsAt = new Date(now).toISOString();
    this.changed();
    return true;
  }

  /** Counts a call in every throttle that it matches. @returns the error of the first throttle that refuses it, or `null` */
  take(call: Call, now = Date.now()): Refusal | null {
    let refusal: Refusal | null = null;
    for (const throttle of this.#all.values()) {
      if (throttle.endsMs <= now || !reaches(throttle, call)) continue;
      throttle.calls += 1;
      throttle.lastCallAt = new Date(now).toISOString();
      if (now >= throttle.passesMs) throttle.passesMs = now + 1000 / (throttle.ratePerSecond ?? 0);
      else {
        throttle.refused += 1;
        refusal ??= refusalOf(throttle, now);
      }
      this.changed();
    }
    return refusal;
  }

  reset(): void {
    this.#all.clear();
  }
}

/** Limits of messages do not apply to reads; limits of an account and of the app do. */
function reaches(throttle: Running, call: Call): boolean {
  if (throttle.scope === 'business_account' && call.wabaId === null) return false;
  if ((throttle.scope === 'sender' || throttle.scope === 'pair') && call.recipient === null) return false;
  return covers(throttle, call);
}

function refusalOf({ scope, http, retryAfter, endsMs }: Running, now: number): Refusal {
  const seconds = retryAfter === true ? Math.max(1, Math.ceil((endsMs - now) / 1000)) : (retryAfter ?? null);
  if (http !== undefined) return { http, retryAfter: seconds, body: null };
  return { ...(scope === 'sender' ? senderLimit() : metaError(CODES[scope])), retryAfter: seconds };
}

const senderLimit = () => metaError(CODES.sender, { subcode: 2494055 });

function shown({ endsMs: _endsMs, passesMs: _passesMs, ...throttle }: Running): Throttle {
  return throttle;
}

/** A token bucket per key: `burst` immediately, then one every `everyMs`. */
class Buckets {
  readonly #buckets = new Map<string, { tokens: number; at: number }>();
  constructor(
    readonly burst: number,
    readonly everyMs: number,
  ) {}

  take(key: string, now: number): boolean {
    const bucket = this.#buckets.get(key) ?? { tokens: this.burst, at: now };
    this.#buckets.set(key, bucket);
    bucket.tokens = Math.min(this.burst, bucket.tokens + (now - bucket.at) / this.everyMs);
    bucket.at = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  clear(): void {
    this.#buckets.clear();
  }
}

/** Meta's limit of a sender, while its setting is on. */
export class Limits {
  readonly #senders = new Buckets(80, 1000 / 80);
  constructor(readonly settings: Settings) {}

  /** Counts one message at a time in milliseconds. @returns the error when the limit is reached */
  take(sender: string, now = performance.now()): MetaError | null {
    return this.settings.current.senderLimit && !this.#senders.take(sender, now) ? senderLimit() : null;
  }

  reset(): void {
    this.#senders.clear();
  }
}
