import { randomUUID } from 'node:crypto';
import { metaError, type Refusal } from './errors.js';
import { changeOf, digits, integer, oneOf, refuseFaults, text, type Member } from './input.js';

/** How far a throttle reaches, with the error code by which Meta tells it. */
const CODES = { pair: 131056, sender: 130429, business_account: 80007, app: 4 } as const;

/** Refuses every call in a scope for a time. */
export interface NewThrottle {
  scope: keyof typeof CODES;
  /** `pair` and `sender`: only this phone number id; every one when absent. */
  sender?: string;
  /** `pair`: only this recipient, E.164 with `+`; every one when absent. */
  recipient?: string;
  /** `business_account`: only this one; every one when absent. */
  wabaId?: string;
  forMs: number;
  /** This status and no error code, as a server in front of Meta answers; the scope's own error when absent. */
  http?: 429 | 503;
  /** `Retry-After` in seconds; `true` tells the time that is left, and nothing is told when absent. */
  retryAfter?: number | true;
  /** So many calls a second pass all the same. */
  ratePerSecond?: number;
}

export interface Throttle extends NewThrottle {
  id: string;
  /** ISO 8601 in UTC. */
  startedAt: string;
  endsAt: string;
  /** How many calls came while it lasted, and how many of them it refused. */
  calls: number;
  refused: number;
  /** When the latest of them came. */
  lastCallAt: string | null;
}

/** What a throttle can see of a call; a read has no recipient, and one of an account or a token no sender. */
export interface Call {
  sender: string | null;
  recipient: string | null;
  wabaId: string | null;
}

const MEMBERS: Readonly<Record<keyof NewThrottle, Member>> = {
  scope: oneOf(...Object.keys(CODES)),
  sender: digits,
  recipient: text(/^\+[1-9]\d{6,14}$/, 'a phone number in E.164 form, with +'),
  wabaId: digits,
  forMs: integer(1, 86_400_000),
  http: oneOf(429, 503),
  retryAfter: {
    fits: (value) => value === true || integer(0, 86_400).fits(value),
    wanted: 'true or an integer from 0 to 86400',
  },
  ratePerSecond: {
    fits: (value) => typeof value === 'number' && value > 0 && value <= 1000,
    wanted: 'a number above 0, at most 1000',
  },
};

/** Throttles that have ended are kept for those who count their calls. */
const KEEP = 100;

interface Running extends Throttle {
  endsMs: number;
  /** The earliest moment at which the next call passes. */
  passesMs: number;
}

export class Throttles {
  readonly #all = new Map<string, Running>();
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Starts a throttle, which may come from parsed JSON. @throws {InvalidInput} */
  add(value: unknown, now = Date.now()): Throttle {
    const wanted = changeOf<NewThrottle>(value, MEMBERS) as NewThrottle;
    refuseFaults(missingOf(wanted));
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
    for (const id of this.#all.keys()) if (this.#all.size > KEEP) this.#all.delete(id);
    this.#changed();
    return shown(throttle);
  }

  /** The oldest first, with those that have ended. */
  list(): Throttle[] {
    return [...this.#all.values()].map(shown);
  }

  /** Ends a throttle now; its counts stay. `false` when none with this id lasts. */
  end(id: string, now = Date.now()): boolean {
    const throttle = this.#all.get(id);
    if (!throttle || throttle.endsMs <= now) return false;
    throttle.endsMs = now;
    throttle.endsAt = new Date(now).toISOString();
    this.#changed();
    return true;
  }

  /** Counts a call in every throttle that it meets; the refusal of the first that lets it not pass, `null` when all do. */
  take(call: Call, now = Date.now()): Refusal | null {
    let refusal: Refusal | null = null;
    for (const throttle of this.#all.values()) {
      if (throttle.endsMs <= now || !covers(throttle, call)) continue;
      throttle.calls += 1;
      throttle.lastCallAt = new Date(now).toISOString();
      if (now >= throttle.passesMs) throttle.passesMs = now + 1000 / (throttle.ratePerSecond ?? 0);
      else {
        throttle.refused += 1;
        refusal ??= refusalOf(throttle, now);
      }
      this.#changed();
    }
    return refusal;
  }

  reset(): void {
    this.#all.clear();
  }
}

function missingOf({ scope, sender, recipient, wabaId, forMs }: NewThrottle): string[] {
  const faults: string[] = [];
  if (scope === undefined) faults.push('scope is missing');
  if (forMs === undefined) faults.push('forMs is missing');
  if (sender !== undefined && scope !== 'pair' && scope !== 'sender')
    faults.push('sender goes with the scopes pair and sender');
  if (recipient !== undefined && scope !== 'pair') faults.push('recipient goes with the scope pair');
  if (wabaId !== undefined && scope !== 'business_account')
    faults.push('wabaId goes with the scope business_account');
  return faults;
}

/** Limits of messages leave reads alone; those of an account and of the app do not. */
function covers({ scope, sender, recipient, wabaId }: Running, call: Call): boolean {
  if (scope === 'app') return true;
  if (scope === 'business_account')
    return call.wabaId !== null && (wabaId === undefined || wabaId === call.wabaId);
  if (call.recipient === null || (sender !== undefined && sender !== call.sender)) return false;
  return scope === 'sender' || recipient === undefined || recipient === call.recipient;
}

function refusalOf({ scope, http, retryAfter, endsMs }: Running, now: number): Refusal {
  const seconds = retryAfter === true ? Math.max(1, Math.ceil((endsMs - now) / 1000)) : (retryAfter ?? null);
  if (http !== undefined) return { http, retryAfter: seconds, body: null };
  return {
    ...metaError(CODES[scope], scope === 'sender' ? { subcode: 2494055 } : {}),
    retryAfter: seconds,
  };
}

function shown({ endsMs: _endsMs, passesMs: _passesMs, ...throttle }: Running): Throttle {
  return throttle;
}
