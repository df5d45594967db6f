import type { Locale, Send } from '@onecode/domain';
import type { Database } from './database.js';
import { sendColumns, sendOf, type SendRow } from './sendRow.js';

/** What a creation stores. The caller made the id, because code hash and box are bound to it. */
export interface NewSend {
  id: string;
  accountId: string;
  applicationId: string;
  /** The key's bytes (1 to 255) with the SHA-256 of the body's exact bytes, or null without a key. */
  idempotency: { key: Uint8Array; bodyHash: Uint8Array } | null;
  recipient: string;
  country: string | null;
  /** Null takes the account's language. */
  locale: Locale | null;
  codeHash: Uint8Array;
  /** Null in test mode. */
  codeBox: Uint8Array | null;
}

/** How a creation ended. `now` is the database's clock. */
export type Creation =
  | { outcome: 'created' | 'existing'; send: Send; now: Date }
  | { outcome: 'reused' }
  /** The account sends to listed countries only, and this is none of them. */
  | { outcome: 'country_refused' }
  | { outcome: 'rate_limited'; retryAfterSeconds: number }
  | { outcome: 'insufficient_credits' };

/**
 * Creates a send in one round trip and one transaction: idempotency look-up, country, limits, unit, row and ledger entry (the SQL
 * function `create_send`). A refusal writes nothing and binds no key.
 */
export async function createSend(database: Database, send: NewSend): Promise<Creation> {
  const [row] = await database.$queryRaw<
    [SendRow & { outcome: string; retry_after_seconds: number | null; now: Date }]
  >`
    select c.outcome, c.retry_after_seconds, c.now, ${sendColumns('(c.send)')}
    from create_send(
      ${send.id}::uuid, ${send.accountId}::uuid, ${send.applicationId}::uuid,
      ${send.idempotency?.key ?? null}::bytea, ${send.idempotency?.bodyHash ?? null}::bytea,
      ${send.recipient}, ${send.country}, ${send.locale}, ${send.codeHash}::bytea, ${send.codeBox}::bytea
    ) c`;
  switch (row.outcome) {
    case 'created':
    case 'existing':
      return { outcome: row.outcome, send: sendOf(row), now: row.now };
    case 'rate_limited':
      return { outcome: 'rate_limited', retryAfterSeconds: row.retry_after_seconds ?? 1 };
    case 'reused':
    case 'country_refused':
    case 'insufficient_credits':
      return { outcome: row.outcome };
    default:
      throw new Error(`create_send answered an unknown outcome: ${row.outcome}`);
  }
}
