import type { Locale, Send } from '@onecode/domain';
import type { Database } from './database.js';
import { sendColumns, sendOf, type SendRow } from './sendRow.js';
import { perDatabase, shareCalls } from './sharedCalls.js';

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
 * function `create_send`). A refusal writes nothing and binds no key. Creations that come in while others are under way share the
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

type CreationRow = SendRow & { id: string; outcome: string; retry_after_seconds: number | null; now: Date };

const hexOf = (bytes: Uint8Array | undefined | null): string | null =>
  bytes === undefined || bytes === null ? null : Buffer.from(bytes).toString('hex');

async function createSends(database: Database, sends: readonly NewSend[]): Promise<Creation[]> {
  // In one order for everybody: calls that lock several accounts would else wait for each other without end.
  const sorted = sends.toSorted((a, b) => (a.accountId < b.accountId ? -1 : 1));
  const of = <T>(field: (send: NewSend) => T): T[] => sorted.map(field);
  const rows = await database.$queryRaw<(CreationRow & { place: bigint })[]>`
    select w.place, c.outcome, c.retry_after_seconds, c.now, ${sendColumns('(c.send)')}
    from unnest(
      ${of(({ id }) => id)}::uuid[], ${of(({ accountId }) => accountId)}::uuid[],
      ${of(({ applicationId }) => applicationId)}::uuid[], ${of(({ idempotency }) => hexOf(idempotency?.key))}::text[],
      ${of(({ idempotency }) => hexOf(idempotency?.bodyHash))}::text[], ${of(({ recipient }) => recipient)}::text[],
      ${of(({ country }) => country)}::text[], ${of(({ locale }) => locale)}::text[],
      ${of(({ codeHash }) => hexOf(codeHash))}::text[], ${of(({ codeBox }) => hexOf(codeBox))}::text[]
    ) with ordinality as w (
      id, account_id, application_id, idempotency_key, body_hash, recipient, country, locale, code_hash, code_box, place
    ) cross join lateral create_send(
      w.id, w.account_id, w.application_id, decode(w.idempotency_key, 'hex'), decode(w.body_hash, 'hex'),
      w.recipient, w.country, w.locale, decode(w.code_hash, 'hex'), decode(w.code_box, 'hex')
    ) c`;
  const creations = new Map(rows.map((row) => [sorted[Number(row.place) - 1], creationOf(row)]));
  return sends.map((send) => {
    const creation = creations.get(send);
    if (creation === undefined) throw new Error('create_send left a creation out');
    return creation;
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
      throw new Error(`create_send answered an unknown outcome: ${row.outcome}`);
  }
}
