import type { KeyRefusal, KeyState } from '../accounts/keys.js';
import type { LimitCause, RecipientCause } from './refusals.js';
import type { Locale, Mode, UnitBucket } from './send.js';
import {
  addToSecond,
  HOUR_MS,
  MINUTE_MS,
  timesWithin,
  windowOf,
  type RateWindow,
  type SendTimes,
} from './sendWindows.js';
import { GUESSES_MAX } from './verification.js';

/**
 * Seconds for which a code still counts as active after it ended: guesses judged before its end may still be on their way to the database.
 */
export const ENDED_CODE_SECONDS = 15;
/** Guess points that are returned to a recipient per day. */
export const POINTS_PER_DAY = 5;
/** A trial account has to wait when more than this many of its latest ten sends, and more than half of them, were rejected. */
const TRIAL_REJECTIONS_MAX = 4;
const DAY_MS = 86_400_000;

/** A request to create a send. */
export interface CreationRequest {
  /** The id of the send if it is created. */
  id: string;
  accountId: string;
  applicationId: string;
  /** The key's 1 to 255 bytes in hexadecimal, and the `bodyHashes` of the body's exact bytes; null without a key. */
  idempotency: { key: string; bodyHashes: readonly string[] } | null;
  /** The key by which limits and budgets count. */
  recipientKey: string;
  country: string | null;
  /** Whether the number is in a premium-rate range, where the recipient's network pays for each message. */
  isPremiumRate: boolean;
  /** Null: the account's language. */
  locale: Locale | null;
  /** Points that a wrong guess at the code takes from the recipient's guess budget. */
  guessCost: number;
}

/**
 * The stored data that decides a request. Times are milliseconds since 1970. `accountTimes`, `applicationTimes` and `sendersAreTaken`
 * are expensive to read and equal for all requests of an account or application: only its first request in a batch has them, even if that
 * request is refused.
 */
export interface CreationState {
  /** Null if the key was deleted. */
  keyState: KeyState | null;
  /** The send that has the idempotency key, and whether it was created with the same body. */
  existingId: string | null;
  isRepeat: boolean | null;
  mode: Mode;
  language: Locale;
  codeValiditySeconds: number;
  /** Null for all countries. */
  allowedCountries: readonly string[] | null;
  allowsPremiumRate: boolean;
  /** The countries of a trial account; null after the trial. Test sends have no trial limits. */
  trialCountries: readonly string[] | null;
  accountRate: number;
  accountSends: number;
  accountTimes: SendTimes | null;
  applicationRate: number | null;
  applicationSends: number;
  applicationTimes: SendTimes | null;
  recipientRate: number | null;
  /** The latest sends within an hour, as many as `recipientRate`. */
  recipientTimes: readonly number[] | null;
  /** The maximum total points of wrong guesses and active codes; null without a guess budget. */
  guessPointsMax: number | null;
  wrongPoints: number | null;
  /** Live codes to the recipient: when each ends, the points of a guess, and its wrong guesses. */
  activeCodes: readonly (readonly [endsAt: number, guessCost: number, wrongGuesses: number])[] | null;
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
  /** Whether no sender of the application will have a permit soon. */
  sendersAreTaken: boolean | null;
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

export interface CreatedDecision {
  outcome: 'created';
  mode: Mode;
  locale: Locale;
  chargedFrom: UnitBucket | null;
  expiresAt: number;
  /** Whether its account's turn decides when it is sent. */
  isWaiting: boolean;
  /** Starts at 1 in each application. */
  number: number;
  windows: RateWindow[];
}

/** The creations of a batch in one account. */
export interface AccountCreations<Request = CreationRequest> {
  /** The data read for its first request. */
  state: CreationState;
  sends: number;
  freeUnits: number;
  credits: number;
  /** The sends of the last minute, including the batch's. */
  times: SendTimes;
  applications: Map<string, ApplicationCreations<Request>>;
  /** Points of the created codes by recipient. */
  points: Map<string, number>;
}

export interface ApplicationCreations<Request = CreationRequest> {
  /** The data read for its first request. */
  state: CreationState;
  created: { request: Request; decision: CreatedDecision }[];
  times: SendTimes;
  /** The created requests by idempotency key. */
  keys: Map<string, Request>;
  /** The sends of the last hour by recipient, if the application has such a limit. */
  recipients: Map<string, SendTimes>;
}

/** A request with the state that its limits are checked against. */
interface Creating {
  request: CreationRequest;
  state: CreationState;
  account: AccountCreations;
  application: ApplicationCreations;
  /** Live sends that the batch has created for all trial accounts together. */
  batchTrialSends: number;
  now: number;
}

/**
 * Decides the creations of a batch in order, each by key, idempotency key, country, limits and unit. A created send counts against the
 * limits of later requests. A refusal takes no unit and binds no key.
 *
 * @param states the data read at `now` for each request; undefined if its application was deleted
 */
export function decideCreations<Request extends CreationRequest>(
  requests: readonly Request[],
  states: readonly (CreationState | undefined)[],
  now: number,
): { decisions: CreationDecision[]; accounts: Map<string, AccountCreations<Request>> } {
  const accounts = new Map<string, AccountCreations<Request>>();
  let batchTrialSends = 0;
  const decisions = requests.map((request, index): CreationDecision => {
    const state = states[index];
    if (state === undefined) return { outcome: 'key_refused', cause: 'revoked' };
    // Must precede every refusal: the values of the account and the application may be set in the state of this request only.
    const account = found(accounts, request.accountId, () => ({
      state,
      sends: 0,
      freeUnits: 0,
      credits: 0,
      times: timesWithin(state.accountTimes ?? [], MINUTE_MS, now),
      applications: new Map(),
      points: new Map(),
    }));
    const application = found(account.applications, request.applicationId, () => ({
      state,
      created: [],
      times: timesWithin(state.applicationTimes ?? [], MINUTE_MS, now),
      keys: new Map(),
      recipients: new Map(),
    }));
    if (state.keyState !== 'valid') return { outcome: 'key_refused', cause: state.keyState ?? 'revoked' };
    const early = decideBeforeLimits(request, state, application);
    if (early !== null) return early;
    const one = { request, state, account, application, batchTrialSends, now };
    const decision = decideByLimits(one);
    if (decision.outcome === 'created') {
      application.created.push({ request, decision });
      if (request.idempotency !== null) application.keys.set(request.idempotency.key, request);
      count(one, decision);
      if (isOnTrial(state)) batchTrialSends += 1;
    }
    return decision;
  });
  return { decisions, accounts };
}

function decideBeforeLimits(
  { idempotency, country, isPremiumRate }: CreationRequest,
  state: CreationState,
  { keys }: ApplicationCreations,
): CreationDecision | null {
  if (state.existingId !== null)
    return state.isRepeat === true ? { outcome: 'existing', id: state.existingId } : { outcome: 'reused' };
  const earlier = idempotency === null ? undefined : keys.get(idempotency.key);
  if (earlier !== undefined)
    return earlier.idempotency?.bodyHashes[0] === idempotency?.bodyHashes[0]
      ? { outcome: 'existing', id: earlier.id }
      : { outcome: 'reused' };
  const cause = recipientRefusal(country, isPremiumRate, state);
  return cause === null ? null : { outcome: 'recipient_refused', cause };
}

/** The limits of an account on the recipients of its sends in one mode. */
export type RecipientLimits = Pick<
  CreationState,
  'mode' | 'allowedCountries' | 'allowsPremiumRate' | 'trialCountries'
>;

/** Returns why the account may not send to the number, or null. Numbers without a country are on no list. */
export function recipientRefusal(
  country: string | null,
  isPremiumRate: boolean,
  limits: RecipientLimits,
): RecipientCause | null {
  const isListed = (list: readonly string[] | null): boolean =>
    list === null || (country !== null && list.includes(country));
  if (isPremiumRate && (isOnTrial(limits) || !limits.allowsPremiumRate)) return 'range';
  if (isOnTrial(limits) && !isListed(limits.trialCountries)) return 'trial_country';
  return isListed(limits.allowedCountries) ? null : 'country';
}

/** Returns whether a send is a live send of a trial account. */
const isOnTrial = ({ mode, trialCountries }: RecipientLimits): boolean =>
  mode === 'live' && trialCountries !== null;

function decideByLimits(one: Creating): CreationDecision {
  const { request, state, account, application, now } = one;
  const windows = windowsOf(one);
  const isLive = state.mode === 'live';
  let opensAt = now;
  let cause: LimitCause | null = null;
  for (const [name, at] of Object.entries(limitEnds(one, windows)) as [LimitCause, number | null][])
    if (at !== null && at > opensAt) {
      opensAt = at;
      cause = name;
    }
  if (cause !== null) {
    const retryAfterSeconds = Math.ceil((opensAt - now) / 1000);
    return { outcome: 'rate_limited', cause, retryAfterSeconds, windows };
  }
  const chargedFrom = isLive ? bucketOf(state, account) : null;
  if (isLive && chargedFrom === null) return { outcome: 'insufficient_credits', windows };
  return {
    outcome: 'created',
    mode: state.mode,
    locale: request.locale ?? state.language,
    chargedFrom,
    expiresAt: now + state.codeValiditySeconds * 1000,
    isWaiting: isLive && application.state.sendersAreTaken === true,
    number: state.applicationSends + application.created.length + 1,
    windows: windows.map((window) => ({ ...window, left: window.left - 1 })),
  };
}

/** Returns the windows of the limits that are in force. */
function windowsOf({ request, state, account, application, now }: Creating): RateWindow[] {
  const { accountRate, applicationRate, recipientRate } = state;
  const windows = [windowOf('account', accountRate, account.times, MINUTE_MS, now)];
  if (applicationRate !== null)
    windows.push(windowOf('application', applicationRate, application.times, MINUTE_MS, now));
  if (recipientRate !== null) {
    const times = found(application.recipients, request.recipientKey, () =>
      (state.recipientTimes ?? []).flatMap((time) => [time, 1]),
    );
    windows.push(windowOf('recipient', recipientRate, times, HOUR_MS, now));
  }
  return windows;
}

/**
 * Returns when each limit allows the request: null or a past time if it allows the request now. If several limits refuse it, the one that
 * reopens last is reported, and on a tie the first in this list.
 */
function limitEnds(one: Creating, windows: readonly RateWindow[]): Record<LimitCause, number | null> {
  const { state, account, batchTrialSends, now } = one;
  const fullUntil = (limit: RateWindow['limit']): number | null => {
    const full = windows.find((window) => window.limit === limit && window.left <= 0);
    return full === undefined ? null : now + full.opensInMs;
  };
  const units = account.freeUnits + account.credits;
  const unitsOfDay = state.unitsOfDay + units;
  const ofTrial = (ceiling: number): number | null => (isOnTrial(state) ? ceiling : null);
  const pointsLeft = guessPointsLeft(one);
  return {
    account_rate: fullUntil('account'),
    application_rate: fullUntil('application'),
    recipient_rate: fullUntil('recipient'),
    wrong_guesses: pointsLeft < 0 ? now + (-pointsLeft / POINTS_PER_DAY) * DAY_MS : null,
    active_codes: pointsLeft < 0 ? null : activeCodesEndAt(one, pointsLeft),
    breaker: state.breakerUntil,
    month_ceiling: usedUntil(one, state.unitsPerMonth, state.unitsOfMonth + units, 'month'),
    day_ceiling: usedUntil(one, state.unitsPerDay, unitsOfDay, 'day'),
    trial_share: usedUntil(one, ofTrial(state.trialAccountSendsPerDay), unitsOfDay, 'day'),
    trial_ceiling: usedUntil(
      one,
      ofTrial(state.trialSendsPerDay),
      state.trialSendsOfDay + batchTrialSends,
      'day',
    ),
    trial_failures: trialFailuresUntil(state, units, now),
  };
}

/** A negative free quota is a debt for codes that arrived after their units were refunded. Credits pay this debt first. */
function bucketOf({ freeQuota, credits }: CreationState, account: AccountCreations): UnitBucket | null {
  if (freeQuota > account.freeUnits) return 'free_quota';
  return credits + Math.min(freeQuota, 0) > account.credits ? 'credit' : null;
}

/** Counts a created send against the limits of later requests. */
function count({ request, account, application, now }: Creating, created: CreatedDecision): void {
  const { recipientKey, guessCost } = request;
  account.sends += 1;
  addToSecond(account.times, now);
  addToSecond(application.times, now);
  application.recipients.get(recipientKey)?.push(now, 1);
  if (created.mode !== 'live') return;
  account[created.chargedFrom === 'credit' ? 'credits' : 'freeUnits'] += 1;
  account.points.set(recipientKey, (account.points.get(recipientKey) ?? 0) + GUESSES_MAX * guessCost);
}

/**
 * Returns the guess points left after wrong guesses and this code, before active codes; negative if too few. Infinite without a guess
 * budget. A live code must have room for all its guesses. In test mode only guesses that were made count.
 */
function guessPointsLeft({ request, state }: Creating): number {
  if (state.guessPointsMax === null) return Infinity;
  const needed = request.guessCost * (state.mode === 'live' ? GUESSES_MAX : 1);
  return state.guessPointsMax - (state.wrongPoints ?? 0) - needed;
}

/** Returns when enough active codes will have ended for the remaining points to allow the request. Verified codes are no longer active. */
function activeCodesEndAt({ request, state, account, now }: Creating, pointsLeft: number): number | null {
  if (state.mode !== 'live') return null;
  const room = pointsLeft - (account.points.get(request.recipientKey) ?? 0);
  const graceMs = ENDED_CODE_SECONDS * 1000;
  // Codes that this batch has created end last.
  if (room < 0) return now + state.codeValiditySeconds * 1000 + graceMs;
  // Starts with the code that ends last. The first code that does not fit has to end before this request is allowed.
  const latestFirst = (state.activeCodes ?? []).toSorted((one, other) => other[0] - one[0]);
  let points = 0;
  for (const [endsAt, guessCost, wrongGuesses] of latestFirst) {
    points += (GUESSES_MAX - wrongGuesses) * guessCost;
    if (points > room) return endsAt + graceMs;
  }
  return null;
}

/** Returns when the next day or month begins (UTC), if a live send would exceed the ceiling; null otherwise. */
function usedUntil(
  { state, now }: Creating,
  ceiling: number | null,
  used: number,
  period: 'day' | 'month',
): number | null {
  if (state.mode !== 'live' || ceiling === null || used < ceiling) return null;
  const today = new Date(now);
  return period === 'month'
    ? Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1)
    : Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate() + 1);
}

/**
 * Returns when a trial account may send again if most of its latest sends were rejected: a minute after its last send; null otherwise. Each
 * rejection refunds its unit, so a few free units would otherwise pay for any number of messages to invented numbers. Only the provider's
 * rejections count: an outage is not the account's fault.
 */
function trialFailuresUntil({ trialSends }: CreationState, batchUnits: number, now: number): number | null {
  if (trialSends === null) return null;
  const { count, rejected, lastAt } = trialSends;
  if (rejected <= Math.max(TRIAL_REJECTIONS_MAX, Math.floor(count / 2))) return null;
  // A send that this batch has created is later than those read.
  return (batchUnits > 0 ? now : lastAt) + MINUTE_MS;
}

function found<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
