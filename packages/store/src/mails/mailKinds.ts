import type { Finding } from '@onecode/domain';

type Nothing = Record<string, never>;

/** A key that a person created or revoked. */
interface KeyFacts {
  application: string;
  /** The visible part of the key. */
  hint: string;
  /** The name of the person; null for the operator's staff. */
  by: string | null;
}

/** The data of each kind of mail, without the link that some mails have. It contains no secrets. */
export interface MailFacts {
  password_reset: Nothing;
  /** If the address already has an account, the mail says so. */
  sign_up: Nothing;
  /** Sent to the new address. */
  address_change: Nothing;
  /** `account`: null for a trial account, because anyone can choose its name. */
  invitation: { account: string | null; role: string; by: string };
  password_changed: Nothing;
  two_factor_on: Nothing;
  two_factor_off: Nothing;
  backup_codes_replaced: Nothing;
  passkey_added: Nothing;
  passkey_removed: Nothing;
  /** Sent to the old address. */
  address_changed: { to: string };
  key_made: KeyFacts;
  key_revoked: KeyFacts;
  /** `host`: where events are sent now; null if the webhook was removed. `isSecretNew`: only the secret changed. */
  webhook_changed: { host: string | null; isSecretNew: boolean; by: string | null };
  member_joined: { name: string; role: string };
  /** `days`: until the key expires; `until`: when it expires, RFC 3339. */
  key_expires: { application: string; hint: string; days: number; until: string };
  /** `deleteAt`: RFC 3339. */
  deletion_scheduled: { deleteAt: string; by: string | null };
  deletion_cancelled: { by: string | null };
  /** `perDay`: the live sends of the last day. */
  low_balance: { left: number; below: number; perDay: number };
  /** `until`: RFC 3339. */
  breaker_tripped: { country: string; sends: number; unverified: number; until: string };
  /** `language`, `country`: of the blocked messages; both null if all messages are blocked. */
  sender_blocked: {
    senderId: string;
    number: string;
    reason: string;
    language: string | null;
    country: string | null;
  };
  /**
   * `country`, `sender` (its number), `template`, `errorCode` (Meta's): what the finding is about, or null. `since`: when the incident
   * began (RFC 3339). `acknowledgedBy`: the staff member who handles it, with a note.
   */
  finding: Pick<Finding, 'name' | 'cause'> & {
    incidentId: string;
    country: string | null;
    sender: string | null;
    template: string | null;
    errorCode: number | null;
    since: string;
    acknowledgedBy: string | null;
    note: string | null;
  };
}

export type MailKind = keyof MailFacts;

/** The kinds that a person can turn off. A mail of any other kind is about the person's security, or was requested. */
export const MUTABLE_MAILS = [
  'low_balance',
  'key_expires',
  'breaker_tripped',
  'sender_blocked',
  'finding',
] as const;
export type MutableMail = (typeof MUTABLE_MAILS)[number];

/**
 * The kinds that are sent after all others. The others are links that people wait for and notices about security. Each of them is limited
 * per person or account, so that none delays the others for long.
 */
export const LATE_MAILS: readonly MailKind[] = [...MUTABLE_MAILS, 'invitation'];
