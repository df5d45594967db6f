import { judge, type GuessDecision, type GuessedSend, type Judgement, type Send } from '@onecode/domain';
import { KEY_STATE, type KeyState } from '../accounts/apiKeys.js';
import { createLookUp, oncePerClient } from '../client/batcher.js';
import type { Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { createChangeBatcher, lockSends } from './changeBatcher.js';

/** A guess at the code of an account's send. */
export interface Guess {
  id: string;
  accountId: string;
  /** The key of the request. */
  keyId: string;
  /** Returns whether the guess is the code that this hash was made of. */
  matches: (codeHash: Uint8Array) => boolean;
}

export type GuessOutcome =
  /** `traceparent` is the trace of the send's creation. */
  | { outcome: 'judged'; judgement: Judgement; traceparent: string | null }
  /** The account has no such send. */
  | { outcome: 'not_found' }
  /** The key was revoked, or its account suspended. The guess was not counted. */
  | { outcome: 'key_refused'; cause: Exclude<KeyState, 'valid'> };

/** A send has at most five guesses that write something, and a few dozen changes of its delivery. More lost races are a fault. */
const ROUNDS_MAX = 100;

/**
 * Judges a guess with the pure rule `judge`, and writes what follows: the count, the end of the delivery, the recipient's guess budget and
 * the unit of a failed send. The write is guarded by the send's version and the key's validity. If another change was faster, the guess is
 * read and judged again. A judgement is returned only after its write is committed.
 *
 * @throws what `matches` throws; nothing is written then
 */
export async function verifySend(database: Database, guess: Guess): Promise<GuessOutcome> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const send = await readGuessedSend(database, guess);
    if (send === undefined) return { outcome: 'not_found' };
    if (send.keyState !== 'valid') return { outcome: 'key_refused', cause: send.keyState ?? 'revoked' };
    const decision = judge(send, send.now, () => guess.matches(send.codeHash));
    if (decision.change === undefined || (await writeGuess(database, { before: send, guess, decision })))
      return { outcome: 'judged', judgement: decision.result, traceparent: send.traceparent };
  }
  throw new Error(`a send changed during each of ${ROUNDS_MAX} attempts to judge a guess`);
}

/** What a guess needs of a send, with the database's clock. */
interface GuessedRow extends GuessedSend, Pick<Send, 'id' | 'codeHash' | 'traceparent'> {
  version: number;
  now: Date;
  /** Null when the key was deleted. */
  keyState: KeyState | null;
}

/** Returns the state of the key of the request `g`, which has an `account_id` and a `key_id`. */
const KEY_OF_REQUEST = Prisma.sql`(
  select ${KEY_STATE} from api_keys k join accounts o on o.id = g.account_id where k.id = g.key_id limit 1
)`;

const readGuessedSend = createLookUp<Guess, GuessedRow>(
  (database, guesses) => database.sql.read`
    select g.ordinal, s.*, clock_timestamp() as now, ${KEY_OF_REQUEST} as "keyState"
    from unnest(
      ${guesses.map(({ id }) => id)}::uuid[], ${guesses.map(({ accountId }) => accountId)}::uuid[],
      ${guesses.map(({ keyId }) => keyId)}::uuid[]
    ) with ordinality as g (id, account_id, key_id, ordinal)
    cross join lateral (
      select id, version, mode, status, phase, receipt_until as "receiptUntil",
        verification, wrong_guesses as "wrongGuesses", expires_at as "expiresAt", code_hash as "codeHash", traceparent
      -- "is true" keeps the plan on the primary key, also if it was made while there were few sends.
      from sends where id = g.id and (account_id = g.account_id) is true limit 1
    ) s`,
);

interface GuessWrite {
  before: GuessedRow;
  guess: Guess;
  decision: GuessDecision;
}

/** Writes a guess. Returns whether the send still had the version that was judged, and the key was valid. */
const writeGuess = (database: Database, write: GuessWrite): Promise<boolean> => writerOf(database)(write);

const writerOf = oncePerClient((database: Database) =>
  createChangeBatcher((writes: readonly GuessWrite[]) => writeGuesses(database, writes)),
);

/** What the change leaves out is missing in the record, and stays as it is in the row. */
function recordOf({ before, guess, decision: { change = {}, reclaimsUnit } }: GuessWrite): object {
  return {
    id: before.id,
    version: before.version,
    account_id: guess.accountId,
    key_id: guess.keyId,
    judged_at: before.now,
    verification: change.verification,
    wrong_guesses: change.wrongGuesses,
    erases_code: change.encryptedCode === null ? true : undefined,
    phase: change.phase,
    due_at: change.dueAt,
    reclaims_unit: reclaimsUnit,
  };
}

/** Writes guesses at different sends. @returns the ids of the sends whose guess was written */
async function writeGuesses(database: Database, writes: readonly GuessWrite[]): Promise<{ id: string }[]> {
  const { lock, lockedIds } = lockSends(writes.length);
  return database.sql.query<{ id: string }[]>`
    with changes as materialized (
      select * from json_to_recordset(${JSON.stringify(writes.map(recordOf))}::json) as g (
        id uuid, version integer, account_id uuid, key_id uuid, judged_at timestamptz, verification text, wrong_guesses smallint,
        erases_code boolean, phase text, due_at timestamptz, reclaims_unit boolean
      ) where ${KEY_OF_REQUEST} = 'valid'
    ), ${lock} written as (
      update sends s set version = s.version + 1, verification = coalesce(g.verification, s.verification),
        verified_at = case when g.verification = 'verified' then g.judged_at end,
        locked_at = case when g.verification = 'locked' then g.judged_at end,
        wrong_guesses = coalesce(g.wrong_guesses, s.wrong_guesses),
        wrong_guess_times = case when g.wrong_guesses is null then s.wrong_guess_times else array_append(s.wrong_guess_times, g.judged_at) end,
        encrypted_code = case when g.erases_code then null else s.encrypted_code end,
        phase = coalesce(g.phase, s.phase), due_at = coalesce(g.due_at, s.due_at)
      from changes g
      where s.id = any(array(${lockedIds})) and s.id = g.id and s.version = g.version
      returning s.id, s.account_id, s.mode, s.recipient_key, s.guess_cost, s.charged_from, g.verification is not distinct from 'verified' as is_right, g.reclaims_unit
    ), by_recipient as materialized (
      -- A batch may have guesses at several codes of one recipient. A right one counts as the last of them.
      select account_id, mode, recipient_key, sum(guess_cost) as points, max(guess_cost) as guess_cost, bool_or(is_right) as is_right
      from written group by account_id, mode, recipient_key
    ), budgets as (
      -- A wrong guess adds its points to those that are left, a right one sets them to 0. Relative to the row, since guesses at other codes
      -- of the recipient may be written at the same time. In the order of the keys; without a count there is nothing to reset.
      insert into guess_budgets as b (account_id, mode, recipient_key, points, guess_cost, last_wrong_at)
      select account_id, mode, recipient_key, case when is_right then 0 else points end, guess_cost, clock_timestamp() from by_recipient r
      where not is_right or (
        select g.points from guess_budgets g
        where g.account_id = r.account_id and g.mode = r.mode and g.recipient_key = r.recipient_key limit 1
      ) > 0
      order by account_id, mode, recipient_key
      on conflict (account_id, mode, recipient_key) do update set
        points = case when excluded.points > 0 then ceil(points_left_at(b.points, b.last_wrong_at, excluded.last_wrong_at)) + excluded.points else 0 end,
        guess_cost = case when b.points > 0 then greatest(b.guess_cost, excluded.guess_cost) else excluded.guess_cost end,
        last_wrong_at = excluded.last_wrong_at
    )
    -- In the order in which accounts are locked.
    select id, case when reclaims_unit then reclaim_unit(id, account_id, charged_from) end from written order by account_id`;
}
