import type { KeyRefusal, KeyState, LimitCause, RecipientCause } from './problems.js';
import type { Locale, Mode, Send, UnitBucket } from './send.js';
import { GUESSES_MAX } from './verification.js';

/**
 * Seconds after its deadline for which a code still counts as active: guesses that were judged before the deadline may not be written yet.
 */
export const ENDED_CODE_SECONDS = 15;
/** Guess points that are returned to a recipient per day. */
export const POINTS_PER_DAY = 5;
/** A trial account must wait if more than this number, and more than half, of its latest ten sends were rejected. */
const TRIAL_REJECTIONS_MAX = 4;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** A request to create a send, with what the send stores. */
export interface NewSend {
  /** The caller makes it, because the code's hash and the encrypted code are bound to it. */
  id: string;
  keyId: string;
  accountId: string;
  applicationId: string;
  /** The key's 1 to 255 bytes in hexadecimal, and the `bodyHashes` of the body's exact bytes; null without a key. */
  idempotency: { key: string; bodyHashes: readonly string[] } | null;
  /** E.164, as the request gave it. The message is sent to this form, and this form is shown. */
  recipient: string;
  /** The key by which limits and budgets count. */
  recipientKey: string;
  /** The keys of the older peppers during a rotation of `NUMBER_PEPPER`. */
  olderRecipientKeys: readonly string[];
  /** See `PhoneRecipient`. */
  country: string;
  /** See `PhoneRecipient`. */
  isPremiumRate: boolean;
  /** Null: the account's language. */
  locale: Locale | null;
  codeHash: Uint8Array;
  /** Null in test mode. */
  encryptedCode: Uint8Array | null;
  /** Points that a wrong guess at the code takes from the recipient's guess budget. */
  guessCost: number;
  /** A UUID, which log lines about the send carry. */
  requestId: string;
  /** The trace that the creation belongs to, as W3C's `traceparent`. */
  traceparent: string | null;
}

/** Numbers of sends by the time at which they count as created, in milliseconds since 1970, oldest first. */
export type SendTimes = readonly (readonly [createdAt: number, sends: number])[];

/** The stored data that decides a request. Times are milliseconds since 1970. */
export interface CreationState {
  /** The database's clock when the data was read. It is the same for all requests of a batch. */
  now: number;
  keyState: KeyState;
  /** The send that has the idempotency key of the request, and whether its request had the same body. */
  earlier: { id: string; isRepeat: boolean } | null;
  mode: Mode;
  language: Locale;
  codeValiditySeconds: number;
  /** Null for all countries. */
  allowedCountries: readonly string[] | null;
  allowsPremiumRate: boolean;
  /** The countries of a trial account; null after the trial and in test mode, which has no trial limits. */
  trialCountries: readonly string[] | null;
  accountRate: number;
  /** The number of sends that the account has created. If it has changed before the write, the creation is decided again. */
  accountSends: number;
  /** The account's sends of the last minute. */
  accountTimes: SendTimes;
  applicationRate: number | null;
  /** The number of sends that the application has created. The next send gets the next number. */
  applicationSends: number;
  applicationTimes: SendTimes;
  recipientRate: number | null;
  /** When the application's latest sends to the recipient within an hour were created: at most `recipientRate`, oldest first. */
  recipientTimes: readonly number[] | null;
  /** The maximum total points of wrong guesses and active codes; null without a guess budget and in test mode. */
  guessPointsMax: number | null;
  wrongPoints: number | null;
  /** The active live codes of the recipient: when each ends, and the points of the guesses that are left. */
  activeCodes: readonly (readonly [endsAt: number, points: number])[] | null;
  /** When the breaker's block of the country ends; null without a block. */
  breakerUntil: number | null;
  unitsPerDay: number | null;
  unitsPerMonth: number | null;
  unitsOfDay: number;
  unitsOfMonth: number;
  /** The daily limit that all trial accounts share. */
  trialSendsPerDay: number;
  trialSendsOfDay: number;
  trialAccountSendsPerDay: number;
  /** A trial account's latest live sends of a day, ten at most. */
  trialSends: { count: number; rejected: number; lastAt: number } | null;
  freeQuota: number;
  credits: number;
  /** Whether sends of the application to this country in this language wait for a turn. The same senders may serve all of them. */
  othersWait: boolean;
}

/** The window of a limit that is in force. */
export interface RateWindow {
  limit: 'account' | 'application' | 'recipient';
  windowMs: number;
  /** Sends in one window. */
  quota: number;
  /** Negative after the quota was lowered. */
  left: number;
  /** Milliseconds until the window has room for one more send. */
  opensInMs: number;
}

/** How a creation ends, before it is written. */
export type CreationDecision =
  | CreatedDecision
  /** The send that has the same key and body. It may be created in the same batch. */
  | { outcome: 'existing'; id: string }
  | { outcome: 'reused' }
  /** The key was accepted when the request was authenticated, but no longer is. */
  | { outcome: 'key_refused'; cause: KeyRefusal }
  | { outcome: 'recipient_refused'; cause: RecipientCause }
  | { outcome: 'rate_limited'; cause: LimitCause; retryAfterSeconds: number; windows: RateWindow[] }
  | { outcome: 'insufficient_credits'; windows: RateWindow[] };

/** The fields of a new send that its response and its delivery need. The other fields that a response shows are null. */
export type CreatedSend = Pick<
  Send,
  'id' | 'mode' | 'status' | 'phase' | 'verification' | 'traceparent' | 'createdAt' | 'expiresAt'
>;

/** A created send, with the request and the state from which it was decided. */
export interface CreatedDecision {
  outcome: 'created';
  request: NewSend;
  /** The state before the send. */
  state: CreationState;
  /** It is `waiting` if its account's turn decides when it is sent. */
  send: CreatedSend;
  locale: Locale;
  chargedFrom: UnitBucket | null;
  windows: RateWindow[];
}

/**
 * Decides the creations of a batch in order. A created send counts against the limits of later requests of its account. (Several trial
 * accounts together may exceed the daily limit that they share, which the write checks again.) A refusal takes no unit and uses no
 * idempotency key.
 *
 * @param states the data read for each request; undefined if its application was deleted
 * @returns the decision on each request, and the created sends by account
 */
export function decideCreations(
  requests: readonly NewSend[],
  states: readonly (CreationState | undefined)[],
): { decisions: CreationDecision[]; created: Map<string, CreatedDecision[]> } {
  const created = new Map<string, CreatedDecision[]>();
  const decisions = requests.map((request, index): CreationDecision => {
    const read = states[index];
    if (read === undefined) return { outcome: 'key_refused', cause: 'revoked' };
    const inAccount = created.get(request.accountId) ?? [];
    const decision = decide(request, afterSends(read, request, inAccount));
    if (decision.outcome === 'created') created.set(request.accountId, [...inAccount, decision]);
    return decision;
  });
  return { decisions, created };
}

/** Checks a request in the order of the specification: key, idempotency key, recipient, limits, unit. */
function decide(request: NewSend, state: CreationState): CreationDecision {
  const { now, keyState, earlier, mode } = state;
  if (keyState !== 'valid') return { outcome: 'key_refused', cause: keyState };

  if (earlier !== null)
    return earlier.isRepeat ? { outcome: 'existing', id: earlier.id } : { outcome: 'reused' };

  const recipientCause = recipientRefusal(request.country, request.isPremiumRate, state);
  if (recipientCause !== null) return { outcome: 'recipient_refused', cause: recipientCause };

  const windows = windowsOf(state);
  const refusal = limitRefusal(request, state, windows);
  if (refusal !== null) return { outcome: 'rate_limited', ...refusal, windows };

  const chargedFrom = mode === 'live' ? bucketOf(state) : null;
  if (mode === 'live' && chargedFrom === null) return { outcome: 'insufficient_credits', windows };

  return {
    outcome: 'created',
    request,
    state,
    send: {
      id: request.id,
      mode,
      status: 'queued',
      phase: state.othersWait ? 'waiting' : 'ready',
      verification: 'pending',
      traceparent: request.traceparent,
      createdAt: new Date(now),
      expiresAt: new Date(now + state.codeValiditySeconds * 1000),
    },
    locale: request.locale ?? state.language,
    chargedFrom,
    windows: windows.map((window) => ({ ...window, left: window.left - 1 })),
  };
}

/** Returns a request's state, updated with sends that its account has created since the state was read. */
export function afterSends(
  state: CreationState,
  { applicationId, recipientKey, idempotency }: NewSend,
  created: readonly CreatedDecision[],
): CreationState {
  if (created.length === 0) return state;
  const { now, trialSends } = state;
  const inApplication = created.filter(({ request }) => request.applicationId === applicationId);
  const isToRecipient = ({ request }: CreatedDecision) => request.recipientKey === recipientKey;
  const sameKey =
    idempotency && inApplication.find(({ request }) => request.idempotency?.key === idempotency.key)?.request;
  // In test mode, active codes do not count.
  const live = state.mode === 'live' ? created.filter(({ send }) => send.mode === 'live') : [];
  const codes = live.filter(isToRecipient);
  const unitsFrom = (bucket: UnitBucket) => created.filter((one) => one.chargedFrom === bucket).length;
  const freeUnits = unitsFrom('free_quota');
  const credits = unitsFrom('credit');
  const units = freeUnits + credits;
  return {
    ...state,
    earlier: sameKey
      ? { id: sameKey.id, isRepeat: sameKey.idempotency?.bodyHashes[0] === idempotency.bodyHashes[0] }
      : state.earlier,
    accountTimes: addSends(state.accountTimes, created.length, now),
    applicationSends: state.applicationSends + inApplication.length,
    applicationTimes: addSends(state.applicationTimes, inApplication.length, now),
    recipientTimes: [...(state.recipientTimes ?? []), ...inApplication.filter(isToRecipient).map(() => now)],
    // A code that is easier to guess raises the maximum.
    guessPointsMax:
      state.guessPointsMax &&
      Math.max(state.guessPointsMax, ...codes.map((one) => one.state.guessPointsMax ?? 0)),
    activeCodes: [
      ...(state.activeCodes ?? []),
      ...codes.map(
        ({ request, send }) => [send.expiresAt.getTime(), GUESSES_MAX * request.guessCost] as const,
      ),
    ],
    unitsOfDay: state.unitsOfDay + units,
    unitsOfMonth: state.unitsOfMonth + units,
    trialSendsOfDay: state.trialSendsOfDay + units,
    trialSends: trialSends !== null && units > 0 ? { ...trialSends, lastAt: now } : trialSends,
    freeQuota: state.freeQuota - freeUnits,
    credits: state.credits - credits,
  };
}

/** The limits of an account on the recipients of its sends. */
export type RecipientLimits = Pick<
  CreationState,
  'allowedCountries' | 'allowsPremiumRate' | 'trialCountries'
>;

/** Returns why the account may not send to the number, or null. `NO_COUNTRY` is on no list. */
export function recipientRefusal(
  country: string,
  isPremiumRate: boolean,
  { allowedCountries, allowsPremiumRate, trialCountries }: RecipientLimits,
): RecipientCause | null {
  const isListed = (list: readonly string[] | null): boolean => list === null || list.includes(country);
  if (isPremiumRate && (trialCountries !== null || !allowsPremiumRate)) return 'range';
  if (!isListed(trialCountries)) return 'trial_country';
  return isListed(allowedCountries) ? null : 'country';
}

/** Returns the windows of the limits that are in force. */
function windowsOf(state: CreationState): RateWindow[] {
  const { now, applicationRate, recipientRate } = state;
  const windows = [windowOf('account', state.accountRate, state.accountTimes, MINUTE_MS, now)];
  if (applicationRate !== null)
    windows.push(windowOf('application', applicationRate, state.applicationTimes, MINUTE_MS, now));
  if (recipientRate !== null) {
    const times = (state.recipientTimes ?? []).map((time) => [time, 1] as const);
    windows.push(windowOf('recipient', recipientRate, times, HOUR_MS, now));
  }
  return windows;
}

/** Returns a limit's window. @param times the sends in the window */
function windowOf(
  limit: RateWindow['limit'],
  quota: number,
  times: SendTimes,
  windowMs: number,
  now: number,
): RateWindow {
  let sends = 0;
  // The send at the `quota`th place from the end. When it has left the window, there is room for one more send.
  let oldest = now;
  for (const [createdAt, count] of times.toReversed()) {
    if (sends < quota) oldest = createdAt;
    sends += count;
  }
  return { limit, windowMs, quota, left: quota - sends, opensInMs: Math.min(now, oldest) + windowMs - now };
}

/** Returns the sends of the last minute. Drops times more than a minute ahead, which were recorded before the clock stepped back. */
export const timesOfMinute = (times: SendTimes, now: number): SendTimes =>
  times.filter(([createdAt]) => createdAt > now - MINUTE_MS && createdAt <= now + MINUTE_MS);

/**
 * Returns the times with this number of new sends. Sends of one second share an entry, which has the time of the last one, so a minute has
 * at most 61 entries.
 */
function addSends(times: SendTimes, sends: number, now: number): SendTimes {
  if (sends === 0) return times;
  const [last, lastSends] = times.at(-1) ?? [now, 0];
  // The clock may have stepped back a little.
  const createdAt = Math.max(now, last);
  return Math.floor(last / 1000) === Math.floor(createdAt / 1000)
    ? [...times.slice(0, -1), [createdAt, lastSends + sends]]
    : [...times, [createdAt, sends]];
}

/** Returns the limit that reopens last, on a tie the first in `limitEnds`; null if all limits allow the request. */
function limitRefusal(
  request: NewSend,
  state: CreationState,
  windows: readonly RateWindow[],
): { cause: LimitCause; retryAfterSeconds: number } | null {
  const { now } = state;
  let opensAt = now;
  let cause: LimitCause | null = null;
  const ends = Object.entries(limitEnds(request, state, windows)) as [LimitCause, number | null][];
  for (const [name, at] of ends)
    if (at !== null && at > opensAt) {
      opensAt = at;
      cause = name;
    }
  return cause && { cause, retryAfterSeconds: Math.ceil((opensAt - now) / 1000) };
}

/** The table of limits: returns for each one when it will allow the request; null or a past time if it allows the request now. */
function limitEnds(
  request: NewSend,
  state: CreationState,
  windows: readonly RateWindow[],
): Record<LimitCause, number | null> {
  const { now } = state;
  const isTrial = state.trialCountries !== null;
  const today = new Date(now);
  const tomorrow = Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate() + 1);
  const nextMonth = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1);
  const usedUntil = (end: number, ceiling: number | null, used: number): number | null =>
    state.mode === 'live' && ceiling !== null && used >= ceiling ? end : null;
  const fullUntil = (limit: RateWindow['limit']): number | null => {
    const full = windows.find((window) => window.limit === limit && window.left <= 0);
    return full === undefined ? null : now + full.opensInMs;
  };
  const { wrong_guesses = null, active_codes = null } = guessLimitEnds(request, state);
  return {
    account_rate: fullUntil('account'),
    application_rate: fullUntil('application'),
    recipient_rate: fullUntil('recipient'),
    wrong_guesses,
    active_codes,
    breaker: state.breakerUntil,
    month_ceiling: usedUntil(nextMonth, state.unitsPerMonth, state.unitsOfMonth),
    day_ceiling: usedUntil(tomorrow, state.unitsPerDay, state.unitsOfDay),
    trial_share: usedUntil(tomorrow, isTrial ? state.trialAccountSendsPerDay : null, state.unitsOfDay),
    trial_ceiling: usedUntil(tomorrow, isTrial ? state.trialSendsPerDay : null, state.trialSendsOfDay),
    trial_failures: trialFailuresUntil(state),
  };
}

/**
 * Returns the bucket that pays for a live send, or null if both are empty. A negative free quota is a debt for codes that arrived after
 * their units were refunded. Credits pay this debt first.
 */
function bucketOf({ freeQuota, credits }: CreationState): UnitBucket | null {
  if (freeQuota > 0) return 'free_quota';
  return credits + freeQuota > 0 ? 'credit' : null;
}

/**
 * Returns when the recipient's guess budget will allow the request, or no time if it allows it now. All guesses at a live code must fit
 * into the budget, next to the wrong guesses so far (`wrong_guesses`) and the guesses that are left at active codes (`active_codes`).
 */
function guessLimitEnds(
  { guessCost }: NewSend,
  { now, guessPointsMax, wrongPoints, activeCodes }: CreationState,
): { wrong_guesses?: number; active_codes?: number } {
  if (guessPointsMax === null) return {};
  let left = guessPointsMax - (wrongPoints ?? 0) - guessCost * GUESSES_MAX;
  if (left < 0) return { wrong_guesses: now + (-left / POINTS_PER_DAY) * DAY_MS };

  // Codes that end last count first. The request has to wait for the end of the code that uses up the points.
  const latestFirst = (activeCodes ?? []).toSorted(([end], [otherEnd]) => otherEnd - end);
  for (const [endsAt, points] of latestFirst) {
    left -= points;
    if (left < 0) return { active_codes: endsAt + ENDED_CODE_SECONDS * 1000 };
  }
  return {};
}

/**
 * Returns when a trial account may send again if most of its latest sends were rejected: a minute after its last send; null otherwise. Each
 * rejection refunds its unit, so a few free units would otherwise pay for any number of messages to invented numbers. Only the provider's
 * rejections count: an outage is not the account's fault.
 */
function trialFailuresUntil({ trialSends }: CreationState): number | null {
  if (trialSends === null) return null;
  const { count, rejected, lastAt } = trialSends;
  return rejected > Math.max(TRIAL_REJECTIONS_MAX, Math.floor(count / 2)) ? lastAt + MINUTE_MS : null;
}
