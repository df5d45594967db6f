import type { Locale, Send } from '@onecode/domain';
import type { Database } from './database.js';
import { sendColumns, sendOf, type SendRow } from './sendRow.js';
import { bytesText, inOrder, perDatabase, shareCalls, type Placed } from './sharedCalls.js';

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

/** Creations of one call at the most: its accounts are locked while it lasts. */
const CREATIONS_MAX = 50;
/** A call that waits for somebody's lock holds up no other. */
const CALLS_MAX = 3;

/**
 * Creates a send in one round trip and one transaction: idempotency look-up, country, limits, unit, row and ledger entry (the SQL
 * function `create_sends`). A refusal writes nothing and binds no key. Creations that come in while others are under way share the
 * next transaction: a commit costs the same for one as for many.
 */
export function createSend(database: Database, send: NewSend): Promise<Creation> {
  return creator(database)(send);
}

const creator = perDatabase((database: Database) =>
  shareCalls((sends: NewSend[]) => createSends(database, sends), {
    wantsMax: CREATIONS_MAX,
    callsMax: CALLS_MAX,
  }),
);

type CreationRow = SendRow & { outcome: string; retry_after_seconds: number | null; now: Date };

async function createSends(database: Database, sends: readonly NewSend[]): Promise<Creation[]> {
  const of = <T>(field: (send: NewSend) => T): T[] => sends.map(field);
  const bytesOf = (field: (send: NewSend) => Uint8Array | null | undefined): (string | null)[] =>
    sends.map((send) => {
      const bytes = field(send) ?? null;
      return bytes && bytesText(bytes);
    });
  const rows = await database.$queryRaw<Placed<CreationRow>[]>`
    select c.place, c.outcome, c.retry_after_seconds, c.now, ${sendColumns('(c.send)')}
    from create_sends(
      ${of(({ id }) => id)}::uuid[], ${of(({ accountId }) => accountId)}::uuid[],
      ${of(({ applicationId }) => applicationId)}::uuid[],
      ${bytesOf(({ idempotency }) => idempotency?.key)}::bytea[],
      ${bytesOf(({ idempotency }) => idempotency?.bodyHash)}::bytea[],
      ${of(({ recipient }) => recipient)}::text[], ${of(({ country }) => country)}::text[],
      ${of(({ locale }) => locale)}::text[],
      ${bytesOf(({ codeHash }) => codeHash)}::bytea[], ${bytesOf(({ codeBox }) => codeBox)}::bytea[]
    ) c`;
  return inOrder(sends, rows).map((row) => {
    if (row === undefined) throw new Error('create_sends left a creation out');
    return creationOf(row);
  });
}

function creationOf(row: CreationRow): Creation {
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
      throw new Error(`create_sends answered an unknown outcome: ${row.outcome}`);
  }
}
