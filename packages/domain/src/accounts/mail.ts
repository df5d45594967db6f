import type { FindingName } from '../health/findings.js';

type Nothing = Record<string, never>;

/** A key that somebody made or revoked. */
interface KeyFacts {
  application: string;
  /** The part of the key that may be shown. */
  hint: string;
  /** The name of who did it; null for the staff of the service. */
  by: string | null;
}

/** What each kind of mail tells, besides the link that some have. None is a secret. */
export interface MailFacts {
  password_reset: Nothing;
  /** To an address that has signed up already, it says so. */
  sign_up: Nothing;
  /** To the new address. */
  address_change: Nothing;
  /** `account`: null for a trial account, whose name anyone can choose. */
  invitation: { account: string | null; role: string; by: string };
  password_changed: Nothing;
  two_factor_on: Nothing;
  two_factor_off: Nothing;
  backup_codes_replaced: Nothing;
  passkey_added: Nothing;
  passkey_removed: Nothing;
  /** To the old address. */
  address_changed: { to: string };
  key_made: KeyFacts;
  key_revoked: KeyFacts;
  /** `host`: where events go from now on; null for nowhere. `isSecretNew`: only the secret changed. */
  webhook_changed: { host: string | null; isSecretNew: boolean; by: string | null };
  member_joined: { name: string; role: string };
  /** `perDay`: the live sends of the last day. */
  low_balance: { left: number; below: number; perDay: number };
  /** `until`: RFC 3339. */
  breaker_tripped: { country: string; sends: number; unverified: number; until: string };
  /** `language`, `country`: of the messages that it does not send; both null where it sends none. */
  sender_blocked: {
    senderId: string;
    number: string;
    reason: string;
    language: string | null;
    country: string | null;
  };
  finding: { name: FindingName; subject: string };
}

export type MailKind = keyof MailFacts;

/** The kinds that a person may do without. All others concern their own security, or were asked for. */
export const MUTABLE_MAILS = ['low_balance', 'breaker_tripped', 'sender_blocked', 'finding'] as const;
export type MutableMail = (typeof MUTABLE_MAILS)[number];

/** Of those, the ones that only staff get. */
export const STAFF_MAILS: readonly MutableMail[] = ['finding'];

/**
 * The kinds that are sent before all others, the most urgent first: a person waits for the links, and may have to react to the notices.
 * All of them are limited for each person or account, so that they cannot hold each other up for long.
 */
export const URGENT_MAILS = [
  'password_reset',
  'address_change',
  'sign_up',
  'password_changed',
  'address_changed',
  'two_factor_on',
  'two_factor_off',
  'backup_codes_replaced',
  'passkey_added',
  'passkey_removed',
  'key_made',
  'key_revoked',
  'webhook_changed',
  'member_joined',
] as const satisfies readonly MailKind[];

/**
 * Seconds from a failed try to the next: they double from two on, up to an hour, with a tenth as jitter.
 *
 * @param tries those that were made, 1 at least
 * @param random a number from 0 up to, not including, 1
 */
export function outboxRetrySeconds(tries: number, random: number): number {
  return Math.min(2 ** tries, 3_600) * (1 + random / 10);
}
