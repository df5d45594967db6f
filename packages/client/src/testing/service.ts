import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import type { DeliveryStatus, Send, VerifyResult } from '../contract.js';
import type { CreateInput } from './input.js';
import { isDelivery } from './outcomes.js';
import { Problem } from './problem.js';
import { rateLimited, Script } from './script.js';
import type { Application, Delivery, Outcome } from './types.js';

interface Step {
  at: number;
  status: DeliveryStatus;
  reason: Send['failure_reason'];
}

/** A send with its state. Times are in milliseconds, by the server clock. */
export interface StoredSend extends CreateInput {
  readonly application: Application;
  readonly code: string;
  readonly idempotencyKey: string | null;
  readonly body: Buffer;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly view: Send;
  readonly chargedFrom: 'freeQuota' | 'credits' | null;
  wrongGuesses: number;
  steps: Step[];
}

export interface ServiceSettings {
  codeValiditySeconds: number;
  delivery: readonly Delivery[];
}

const GUESSES_MAX = 5;
const MINUTE = 60_000;
/** A hundred years. */
const ADVANCE_SECONDS_MAX = 3_155_760_000;
const SENDER = '+12025550143';
/** Delivery moves forward only; `failed` ends it. */
const ORDER: readonly DeliveryStatus[] = ['queued', 'sending', 'sent', 'failed', 'delivered', 'read'];
const isAhead = (one: DeliveryStatus, other: DeliveryStatus): boolean =>
  ORDER.indexOf(one) > ORDER.indexOf(other);
const iso = (time: number): string => new Date(time).toISOString();

/** A limit on new sends, before a request. */
interface Limit {
  name: string;
  quota: number;
  /** The length of its window. */
  ms: number;
  detail: string;
  left: number;
  /** The time until more sends are allowed. */
  moreInMs: number;
}

/** The state of the service: its callers, its sends, and an adjustable clock. */
export class Service {
  readonly sends: StoredSend[] = [];
  /** By API key. */
  readonly callers = new Map<string, Application>();
  private readonly scripts = new Map<string, Script>();
  private aheadMs = 0;
  private latest = 0;

  constructor(private readonly settings: ServiceSettings) {}

  now(): number {
    return Math.max(this.latest, Date.now() + this.aheadMs);
  }

  /** Returns the time of a request, always later than the previous one, and advances deliveries to it. */
  tick(): number {
    this.latest = Math.max(this.latest + 1, Date.now() + this.aheadMs);
    for (const send of this.sends) settle(send, this.latest);
    return this.latest;
  }

  advance(seconds: number): void {
    if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= ADVANCE_SECONDS_MAX))
      throw new RangeError(
        `The clock moves forward only: seconds must be a number from 0 to ${ADVANCE_SECONDS_MAX}.`,
      );
    // Start from the last returned time: many requests within a millisecond have moved it ahead.
    this.aheadMs = this.now() - Date.now() + Math.round(seconds * 1000);
    this.tick();
  }

  /** @param given a random key by default */
  addKey(application: Application, given?: string): string {
    const key = given ?? `ak_${application.mode}_${randomBytes(17).toString('hex').slice(1)}`;
    if (!key.startsWith(`ak_${application.mode}_`))
      throw new RangeError(
        `The key of an application in ${application.mode} mode begins with ak_${application.mode}_.`,
      );
    this.callers.set(key, application);
    return key;
  }

  scriptOf(to: string): Script {
    const script = this.scripts.get(to) ?? new Script(this.settings.delivery);
    this.scripts.set(to, script);
    return script;
  }

  /** Adds to the script of a number, and replans pending deliveries to it. */
  script(to: string, outcomes: readonly Outcome[]): void {
    const script = this.scriptOf(to);
    script.add(outcomes);
    if (!outcomes.some(isDelivery)) return;
    const now = this.tick();
    for (const send of this.sends) if (send.to === to) send.steps = stepsOf(send, script.deliveries, now);
    this.tick();
  }

  /** Returns the send as created, or an earlier one with the same key and body, and the response headers. @throws Problem */
  create(
    application: Application,
    input: CreateInput,
    idempotencyKey: string | null,
    body: Buffer,
  ): [Send, Record<string, string>] {
    const now = this.tick();
    const known = this.sends.find(
      (send) =>
        idempotencyKey !== null && send.idempotencyKey === idempotencyKey && send.application === application,
    );
    if (known !== undefined) {
      if (!known.body.equals(body)) throw new Problem('idempotency_key_reused');
      return [viewAt(known, now), {}];
    }
    const limits = this.checkLimits(application, input.to, now);
    const { mode, account } = application;
    const chargedFrom = mode === 'test' ? null : account.freeQuota > 0 ? 'freeQuota' : 'credits';
    // The free quota is below zero while the account owes units.
    if (chargedFrom !== null && account.freeQuota + account.credits <= 0)
      throw new Problem('insufficient_credits', { headers: rateLimitHeaders(limits, 0) });
    if (chargedFrom !== null) account[chargedFrom] -= 1;

    const { verification, deliveries } = this.scriptOf(input.to);
    const expiresAt = now + (verification === 'expired' ? 1 : this.settings.codeValiditySeconds * 1000);
    const send: StoredSend = {
      ...input,
      code: input.code ?? (mode === 'test' ? '000000' : String(randomInt(1_000_000)).padStart(6, '0')),
      application,
      idempotencyKey,
      body,
      createdAt: now,
      expiresAt,
      chargedFrom,
      wrongGuesses: verification === 'locked' ? GUESSES_MAX : 0,
      steps: [],
      view: {
        id: randomUUID(),
        status: 'queued',
        verification: 'pending',
        mode,
        channel: null,
        from: null,
        expires_at: iso(expiresAt),
        created_at: iso(now),
        sent_at: null,
        delivered_at: null,
        read_at: null,
        verified_at: null,
        failed_at: null,
        failure_reason: null,
      },
    };
    send.steps = stepsOf(send, deliveries, now);
    this.sends.push(send);
    const created = { ...send.view };
    if (verification === 'verified') Object.assign(send.view, { verification, verified_at: iso(now) });
    if (verification === 'locked') send.view.verification = verification;
    return [created, rateLimitHeaders(limits, 1)];
  }

  /** Reports the limit that reopens last. @throws Problem `rate_limited` */
  private checkLimits(application: Application, to: string, now: number): Limit[] {
    const { account, perMinute, perRecipientHour } = application;
    const limitOf = (
      name: string,
      quota: number | null,
      ms: number,
      detail: string,
      counts: (send: StoredSend) => boolean,
    ): Limit[] => {
      if (quota === null) return [];
      const times = this.sends
        .filter((send) => counts(send) && send.createdAt + ms > now)
        .map(({ createdAt }) => createdAt);
      // If the quota was lowered, more than one send must leave the window.
      const first = quota > 0 ? (times.slice(-quota)[0] ?? now) : now;
      return [
        { name, quota, ms, detail, left: Math.max(quota - times.length, 0), moreInMs: first + ms - now },
      ];
    };
    const limits = [
      ...limitOf(
        'account',
        account.ratePerMinute,
        MINUTE,
        'This account has reached its limit of sends per minute.',
        (send) => send.application.account === account,
      ),
      ...limitOf(
        'application',
        perMinute,
        MINUTE,
        'This application has reached its limit of sends per minute.',
        (send) => send.application === application,
      ),
      ...limitOf(
        'recipient',
        perRecipientHour,
        60 * MINUTE,
        'This application has reached its hourly limit of sends to this recipient.',
        (send) => send.application === application && send.to === to,
      ),
    ];
    const [last] = limits
      .filter(({ left }) => left === 0)
      .toSorted((one, other) => other.moreInMs - one.moreInMs);
    if (last !== undefined)
      throw rateLimited(Math.ceil(last.moreInMs / 1000), last.detail, rateLimitHeaders(limits, 0));
    return limits;
  }

  /** Returns a send of the account. @throws Problem `send_not_found` */
  find({ account }: Application, id: string): StoredSend {
    const found = this.sends.find((send) => send.view.id === id && send.application.account === account);
    if (found === undefined) throw new Problem('send_not_found');
    return found;
  }

  /** Checks one guess. */
  guess(send: StoredSend, code: string): VerifyResult {
    const now = this.tick();
    const { verification } = viewAt(send, now);
    if (verification !== 'pending') return { valid: false, verification, attempts_left: 0 };
    if (code === send.code) {
      Object.assign(send.view, { verification: 'verified', verified_at: iso(now) });
      if (send.view.status === 'failed' && send.view.sent_at !== null) chargeAgain(send);
      return { valid: true, verification: 'verified', attempts_left: 0 };
    }
    send.wrongGuesses += 1;
    const attemptsLeft = GUESSES_MAX - send.wrongGuesses;
    if (attemptsLeft === 0) send.view.verification = 'locked';
    return { valid: false, verification: send.view.verification, attempts_left: attemptsLeft };
  }
}

/** Returns the send in the form of the contract: a pending code is expired when its deadline has passed. */
export function viewAt({ view, expiresAt }: StoredSend, now: number): Send {
  const isExpired = view.verification === 'pending' && now >= expiresAt;
  return isExpired ? { ...view, verification: 'expired' } : { ...view };
}

/** Returns the scripted steps from a time on, and the deadline, when an unstarted delivery fails. Test sends are read immediately. */
function stepsOf(
  { application, expiresAt }: Pick<StoredSend, 'application' | 'expiresAt'>,
  deliveries: readonly Delivery[],
  from: number,
): Step[] {
  if (application.mode === 'test') return [{ status: 'read', reason: null, at: from }];
  const steps = deliveries.map((delivery): Step => {
    const reason = delivery.status === 'failed' ? delivery.reason : null;
    const afterMs = delivery.afterMs ?? (reason === 'expired_before_delivery' ? expiresAt - from : 0);
    return { status: delivery.status, reason, at: from + afterMs };
  });
  const deadline: Step = { status: 'failed', reason: 'expired_before_delivery', at: expiresAt };
  return [...steps, deadline].toSorted((one, other) => one.at - other.at);
}

/** Charges the refunded unit of a failed send again: its code was verified, so its message did arrive. */
function chargeAgain({ application: { account }, chargedFrom }: StoredSend): void {
  if (chargedFrom === null) return;
  const bucket =
    account.credits > 0 && (chargedFrom === 'credits' || account.freeQuota <= 0) ? 'credits' : 'freeQuota';
  account[bucket] -= 1;
}

/** Runs the delivery steps that are due. A failure refunds the unit. */
function settle(send: StoredSend, now: number): void {
  for (let step = send.steps[0]; step !== undefined && step.at <= now; step = send.steps[0]) {
    send.steps.shift();
    advanceTo(send, step);
  }
}

/** Moves forward only: a failure applies until delivery was confirmed, and a deadline only before the message was accepted. */
function advanceTo({ view, application, chargedFrom }: StoredSend, { status, reason, at }: Step): void {
  const isDeadline = reason === 'expired_before_delivery';
  if (
    view.status === 'failed' ||
    !isAhead(status, view.status) ||
    (isDeadline && !isAhead('sent', view.status))
  )
    return;
  view.status = status;
  if (!isDeadline) {
    view.channel = application.mode === 'test' ? 'sandbox' : 'whatsapp';
    view.from = application.mode === 'test' ? null : SENDER;
  }
  if (status === 'failed') {
    Object.assign(view, { failed_at: iso(at), failure_reason: reason });
    if (chargedFrom !== null) application.account[chargedFrom] += 1;
    return;
  }
  if (status !== 'sending') view.sent_at ??= iso(at);
  if (status === 'delivered' || status === 'read') view.delivered_at ??= iso(at);
  if (status === 'read') view.read_at = iso(at);
}

/** @param taken the number of sends that this request added */
function rateLimitHeaders(limits: readonly Limit[], taken: number): Record<string, string> {
  const seconds = ({ moreInMs, left }: Limit): string =>
    taken === 0 && left > 0 ? '' : `;t=${Math.ceil(moreInMs / 1000)}`;
  return {
    'RateLimit-Policy': limits.map(({ name, quota, ms }) => `"${name}";q=${quota};w=${ms / 1000}`).join(', '),
    RateLimit: limits.map((limit) => `"${limit.name}";r=${limit.left - taken}${seconds(limit)}`).join(', '),
  };
}
