import { createHmac, randomBytes } from 'node:crypto';
import type { MailFacts, MailKind } from './mail.js';

/**
 * An event for a webhook: its type, and its data in addition to the account. It contains no send, number, code or key.
 */
export interface AccountEvent {
  type: 'balance.low' | 'breaker.tripped' | 'sender.blocked' | 'webhook.test';
  data: Readonly<Record<string, string | number | null>>;
}

/** The events that accompany mails to an account's admins. */
export const EVENTS: { readonly [Kind in MailKind]?: (facts: MailFacts[Kind]) => AccountEvent } = {
  low_balance: ({ left, below, perDay }) => ({
    type: 'balance.low',
    data: { units_left: left, below, live_sends_last_day: perDay },
  }),
  breaker_tripped: ({ country, sends, unverified, until }) => ({
    type: 'breaker.tripped',
    data: { country, sends, unverified, until },
  }),
  sender_blocked: ({ senderId, language, country, reason }) => ({
    type: 'sender.blocked',
    data: { sender_id: senderId, language, country, reason },
  }),
};

const SECRET_PREFIX = 'whsec_';

/** Returns an event's signature as defined by Standard Webhooks (symmetric, v1). @param timestamp in seconds */
export function signEvent(secret: string, id: string, timestamp: number, body: string): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}

/** Returns a new webhook secret in the format of Standard Webhooks. */
export const newEventSecret = (): string => SECRET_PREFIX + randomBytes(32).toString('base64');
