import type { Locale } from '@onecode/domain';

/** What a creation stores. The caller makes the id, because the code's hash and the encrypted code are bound to it. */
export interface NewSend {
  id: string;
  /** The key of the request, which is checked again. */
  keyId: string;
  accountId: string;
  applicationId: string;
  /** The key's bytes (1 to 255) with the `bodyHashes` of the body's exact bytes, or null without a key. */
  idempotency: { key: Uint8Array; bodyHashes: readonly Uint8Array[] } | null;
  /** E.164, as the request gave it. The message is sent to this form, and this form is shown. */
  recipient: string;
  /** The key by which limits and budgets count. */
  recipientKey: string;
  /** The keys of the older peppers during a rotation of `NUMBER_PEPPER`. */
  olderRecipientKeys: readonly string[];
  country: string | null;
  /** Whether the number is in a premium-rate range, where the recipient's network pays for each message. */
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
