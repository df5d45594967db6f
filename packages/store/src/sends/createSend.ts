import type { Locale, Send } from '@onecode/domain';
import pLimit from 'p-limit';
import type { Database } from '../client/database.js';
import { sendColumns, sendOf, type SendRow } from './sendRow.js';
import { bytesText, byOrdinal, oncePerClient, createBatcher, type WithOrdinal } from '../client/batcher.js';

/** What a creation stores. The caller made the id, because code hash and box are bound to it. */
export interface NewSend {
  id: string;
  /** The key that asks. It is looked at once more under the account's lock. */
  keyId: string;
  accountId: string;
  applicationId: string;
  /** The key's bytes (1 to 255) with the SHA-256 of the body's exact bytes, or null without a key. */
  idempotency: { key: Uint8Array; bodyHash: Uint8Array } | null;
  /** As it was asked for, is sent and shown. */
  recipient: string;
  /** By which limits, windows and budgets go. */
  canonicalRecipient: string;
  country: string | null;
  /** Whether somebody earns by what is sent there. */
  isCostly: boolean;
  /** Null takes the account's language. */
  locale: Locale | null;
  codeHash: Uint8Array;
  /** Null in test mode. */
  sealedCode: Uint8Array | null;
  /** What a wrong guess at the code takes from the recipient's budget. */
  guessCost: number;
}

/** Why a send may not be created now. */
export type LimitCause =
  | 'account_rate'
  | 'application_rate'
  | 'recipient_rate'
  /** Too many wrong codes in a row. */
  | 'wrong_guesses'
  /** Too many codes that may still be guessed at. */
  | 'open_codes'
  | 'breaker'
  /** Of all trial accounts together. */
  | 'trial_ceiling';

/** Why an account may not send to a recipient. */
export type RecipientCause =
  /** The account sends to listed countries only, and this is none of them. */
  | 'country'
  /** A trial account sends to the countries named at sign-up only … */
  | 'trial_country'
  /** … and to no satellite or premium range. */
  | 'trial_range';

/** How a creation ended. `now` is the database's clock. */
export type Creation =
  | { outcome: 'created' | 'existing'; send: Send; now: Date }
  | { outcome: 'reused' }
  /** The key was revoked, or its account suspended, since the request was judged. */
  | { outcome: 'key_refused'; cause: 'revoked' | 'suspended' }
  | { outcome: 'recipient_refused'; cause: RecipientCause }
  | { outcome: 'rate_limited'; cause: LimitCause; retryAfterSeconds: number }
  | { outcome: 'insufficient_credits' };

/** Somebody else held the account's lock for longer than a creation waits. Nothing was created. */
export class AccountBusy extends Error {
  constructor() {
    super('the account is locked by somebody else');
  }
}

/** Creations of one call at the most: its accounts are locked while it lasts. */
const CREATIONS_MAX = 50;
/** A slow disk holds up the others for so long only. */
const RELEASE_AFTER_MS = 20;
const CALLS_MAX = 3;
/** Calls that wait for locks at a time: each has a connection meanwhile. */
const WAITING_CALLS_MAX = 4;
/** How long one of them waits before it lets another account's have its turn. */
const LOCK_WAIT_MS = 500;
/** A creation that has waited for longer than this is an error. */
const BUSY_MS_MAX = 3_000;

/**
 * Creates a send in one round trip and one transaction: idempotency look-up, country, limits, unit, row and ledger entry (the SQL
 * function `create_sends`). A refusal writes nothing and binds no key. Creations that come in while others are under way share the
 * next transaction: a commit costs the same for one as for many.
 *
 * A transaction takes the accounts that nobody else has locked. Creations of the others go on in a lane of their account's own, so that
 * nobody waits for another account's lock.
 *
 * @throws AccountBusy when the account stays locked for some seconds
 */
export function createSend(database: Database, send: NewSend): Promise<Creation> {
  return creator(database)(send);
}

const creator = oncePerClient((database: Database) => {
  const createTogether = createBatcher((sends: NewSend[]) => createSends(database, sends, null), {
    batchSizeMax: CREATIONS_MAX,
    releaseAfterMs: RELEASE_AFTER_MS,
    concurrentBatchesMax: CALLS_MAX,
  });
  const lanes = openLanes(database);
  return async (send: NewSend): Promise<Creation> => {
    const creation = lanes.isOpen(send.accountId) ? 'busy' : await createTogether(send);
    return creation === 'busy' ? lanes.create(send) : creation;
  };
});

interface Lane {
  create: (wanted: { send: NewSend; since: number }) => Promise<Creation | 'busy'>;
  /** Creations in it; it closes with the last one. */
  creations: number;
}

/** Lanes of accounts whose lock somebody else has: each waits by itself, and a few of them at a time. */
function openLanes(database: Database): {
  isOpen: (accountId: string) => boolean;
  create: (send: NewSend) => Promise<Creation>;
} {
  const lanes = new Map<string, Lane>();
  const turns = pLimit(WAITING_CALLS_MAX);

  const createWaiting = async (wanted: readonly { send: NewSend; since: number }[]) => {
    const sends = wanted.map(({ send }) => send);
    const oldest = Math.min(...wanted.map(({ since }) => since));
    for (;;) {
      const creations = await turns(() => createSends(database, sends, LOCK_WAIT_MS));
      if (creations.some((one) => one !== 'busy') || performance.now() - oldest > BUSY_MS_MAX)
        return creations;
    }
  };
  const laneOf = (accountId: string): Lane => {
    const open = lanes.get(accountId);
    if (open !== undefined) return open;
    const lane = { create: createBatcher(createWaiting, { batchSizeMax: CREATIONS_MAX }), creations: 0 };
    lanes.set(accountId, lane);
    return lane;
  };

  return {
    isOpen: (accountId) => lanes.has(accountId),
    async create(send) {
      const lane = laneOf(send.accountId);
      const since = performance.now();
      lane.creations += 1;
      try {
        for (;;) {
          const creation = await lane.create({ send, since });
          if (creation !== 'busy') return creation;
          if (performance.now() - since > BUSY_MS_MAX) throw new AccountBusy();
        }
      } finally {
        lane.creations -= 1;
        if (lane.creations === 0) lanes.delete(send.accountId);
      }
    },
  };
}

type CreationRow = SendRow & {
  outcome: string;
  cause: string | null;
  retry_after_seconds: number | null;
  now: Date;
};

/**
 * @param waitMs how long locks are waited for, all of one account then; null waits for none
 * @returns `busy` for those whose account somebody else has locked
 */
async function createSends(
  database: Database,
  sends: readonly NewSend[],
  waitMs: number | null,
): Promise<(Creation | 'busy')[]> {
  const of = <T>(field: (send: NewSend) => T): T[] => sends.map(field);
  const bytesOf = (field: (send: NewSend) => Uint8Array | null | undefined): (string | null)[] =>
    sends.map((send) => {
      const bytes = field(send) ?? null;
      return bytes && bytesText(bytes);
    });
  const rows = await database.$queryRaw<WithOrdinal<CreationRow>[]>`
    select c.ordinal, c.outcome, c.cause, c.retry_after_seconds, c.now, ${sendColumns('(c.send)')}
    from create_sends(
      ${of(({ id }) => id)}::uuid[], ${of(({ keyId }) => keyId)}::uuid[], ${of(({ accountId }) => accountId)}::uuid[],
      ${of(({ applicationId }) => applicationId)}::uuid[],
      ${bytesOf(({ idempotency }) => idempotency?.key)}::bytea[],
      ${bytesOf(({ idempotency }) => idempotency?.bodyHash)}::bytea[],
      ${of(({ recipient }) => recipient)}::text[], ${of(({ canonicalRecipient }) => canonicalRecipient)}::text[],
      ${of(({ country }) => country)}::text[], ${of(({ isCostly }) => isCostly)}::boolean[],
      ${of(({ locale }) => locale)}::text[],
      ${bytesOf(({ codeHash }) => codeHash)}::bytea[], ${bytesOf(({ sealedCode }) => sealedCode)}::bytea[],
      ${of(({ guessCost }) => guessCost)}::integer[], ${waitMs}::integer
    ) c`;
  return byOrdinal(sends, rows).map((row) => {
    if (row === undefined) throw new Error('create_sends left a creation out');
    return creationOf(row);
  });
}

function creationOf(row: CreationRow): Creation | 'busy' {
  switch (row.outcome) {
    case 'busy':
      return 'busy';
    case 'created':
    case 'existing':
      return { outcome: row.outcome, send: sendOf(row), now: row.now };
    case 'rate_limited':
      return {
        outcome: 'rate_limited',
        cause: row.cause as LimitCause,
        retryAfterSeconds: row.retry_after_seconds ?? 1,
      };
    case 'recipient_refused':
      return { outcome: 'recipient_refused', cause: row.cause as RecipientCause };
    case 'key_refused':
      return { outcome: 'key_refused', cause: row.cause as 'revoked' | 'suspended' };
    case 'reused':
    case 'insufficient_credits':
      return { outcome: row.outcome };
    default:
      throw new Error(`create_sends answered an unknown outcome: ${row.outcome}`);
  }
}
