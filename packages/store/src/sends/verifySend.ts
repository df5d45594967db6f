import {
  judge,
  type GuessedSend,
  type Judgement,
  type KeyRefusal,
  type Send,
  type Verification,
} from '@onecode/domain';
import { KEY_STATE } from '../accounts/apiKeys.js';
import { createBatcher, createLookUp, oncePerClient, OVERLAPPING_BATCHES_MAX } from '../client/batcher.js';
import type { Database } from '../client/database.js';
import { pauseAfterLostRace, RACES_MS_MAX } from '../client/races.js';
import { COUNTED_GUESSES } from './guessBudgets.js';
import { lockUnchangedSends } from './updateSends.js';

/** A guess at the code of an account's send. */
export interface Guess {
  id: string;
  accountId: string;
  /** The API key of the request. */
  keyId: string;
  /** Returns whether the guess is the code with this hash. */
  matches: (codeHash: Uint8Array) => boolean;
}

export type GuessOutcome =
  /** `traceparent` is the trace of the send's creation. */
  | { outcome: 'judged'; judgement: Judgement; traceparent: string | null }
  | { outcome: 'not_found' }
  /** The key was revoked, it expired, or its account was suspended. The guess was not counted. */
  | { outcome: 'key_refused'; cause: KeyRefusal };

/** A batch locks its sends until it commits. */
const GUESSES_IN_BATCH_MAX = 100;

/**
 * Judges a guess with the pure rule `judge`, and returns after the judgement is committed. The write requires an unchanged version of the
 * send and a valid key. If another transaction has changed or locked the send, the send is read and the guess judged again after a short
 * pause. Guesses that arrive together share reads and writes.
 *
 * A guess at a verified, locked or expired code writes nothing and does not check the key again.
 *
 * @throws the error of `matches`, or Error if the guess loses all races for `RACES_MS_MAX`; nothing is written then
 */
export async function verifySend(database: Database, guess: Guess): Promise<GuessOutcome> {
  const endsAt = performance.now() + RACES_MS_MAX;
  for (let lostRaces = 1; ; lostRaces += 1) {
    const send = await readGuessedSend(database, guess);
    if (send === undefined) return { outcome: 'not_found' };
    const { result, isCounted } = judge(send, send.now, () => guess.matches(send.codeHash));
    if (isCounted) {
      const write = { guess, send, verification: result.verification };
      // A right guess for a failed send also locks its account, and guesses of other accounts must not wait for that lock.
      const [end = 'stale'] =
        result.valid && send.status === 'failed'
          ? await writeGuesses(database, [write])
          : [await getWriter(database)(write)];
      if (end === 'stale') {
        if (performance.now() > endsAt)
          throw new Error('could not verify a code: other transactions keep the send locked');
        await pauseAfterLostRace(lostRaces);
        continue;
      }
      if (end !== 'written') return { outcome: 'key_refused', cause: end };
    }
    return { outcome: 'judged', judgement: result, traceparent: send.traceparent };
  }
}

/** The fields of a send that a guess needs, with the database's time. */
interface GuessedRow extends GuessedSend, Pick<Send, 'status' | 'traceparent'> {
  codeHash: Uint8Array;
  version: number;
  now: Date;
}

const readGuessedSend = createLookUp<Guess, GuessedRow>(
  (database, guesses) => database.sql.read`
    select g.ordinal, s.*, clock_timestamp() as now
    from unnest(
      ${guesses.map(({ id }) => id)}::uuid[], ${guesses.map(({ accountId }) => accountId)}::uuid[]
    ) with ordinality as g (id, account_id, ordinal)
    cross join lateral (
      select version, verification, coalesce(cardinality(wrong_guess_times), 0) as "wrongGuesses", expires_at as "expiresAt",
        code_hash as "codeHash", status, traceparent
      -- "is true" keeps the plan on the primary key, even if it was made while there were few sends.
      from sends where id = g.id and (account_id = g.account_id) is true limit 1
    ) s`,
);

interface GuessWrite {
  guess: Guess;
  send: GuessedRow;
  /** The state of the code after the guess. */
  verification: Verification;
}

const toGuessRecord = ({ guess, send, verification }: GuessWrite): object => ({
  id: guess.id,
  version: send.version,
  account_id: guess.accountId,
  key_id: guess.keyId,
  judged_at: send.now,
  verification,
});

/** `stale`: the send had another version, or another transaction has locked it. Otherwise the key is refused. */
type WriteEnd = 'written' | 'stale' | KeyRefusal;

const getWriter = oncePerClient((database: Database) =>
  createBatcher((writes: GuessWrite[]) => writeGuesses(database, writes), {
    batchSizeMax: GUESSES_IN_BATCH_MAX,
    concurrentBatchesMax: OVERLAPPING_BATCHES_MAX,
  }),
);

/**
 * Writes guesses, if their keys are valid and the sends have the versions that were read. Writes the sends, the guess budgets of their
 * recipients, and the unit of a failed send. Of several guesses at one send, only the first is tried.
 */
async function writeGuesses(database: Database, writes: readonly GuessWrite[]): Promise<WriteEnd[]> {
  const first = new Map(writes.toReversed().map((write) => [write.guess.id, write]));
  const { lock, lockedIds } = lockUnchangedSends(first.size);
  const rows = await database.sql.query<{ id: string; end: WriteEnd }[]>`
    with guesses as materialized (
      select *, coalesce((
        select ${KEY_STATE} from api_keys k join accounts o on o.id = g.account_id where k.id = g.key_id limit 1
      ), 'revoked') as key_state
      from json_to_recordset(${JSON.stringify([...first.values()].map(toGuessRecord))}::json) as g (
        id uuid, version integer, account_id uuid, key_id uuid, judged_at timestamptz, verification text
      )
    ), changes as materialized (
      select * from guesses where key_state = 'valid'
    ), ${lock} written as (
      update sends s set version = s.version + 1, verification = g.verification,
        verified_at = case g.verification when 'verified' then g.judged_at end,
        locked_at = case g.verification when 'locked' then g.judged_at end,
        wrong_guess_times = case g.verification when 'verified' then s.wrong_guess_times else array_append(s.wrong_guess_times, g.judged_at) end
      from changes g
      where s.id = any(array(${lockedIds})) and s.id = g.id and s.version = g.version
      returning s.id, s.account_id, s.mode, s.recipient_key, s.guess_cost, s.charged_from, s.status, s.verification = 'verified' as is_right
    ), ${COUNTED_GUESSES}
    select g.id, case when g.key_state <> 'valid' then g.key_state when w.id is null then 'stale' else 'written' end as "end",
      -- A right code for a failed send suggests that its message arrived.
      case when w.is_right and w.status = 'failed' then reclaim_unit(w.id, w.account_id, w.charged_from) end
    from guesses g left join written w using (id)`;
  const ends = new Map(rows.map(({ id, end }) => [id, end]));
  return writes.map((write) =>
    first.get(write.guess.id) === write ? (ends.get(write.guess.id) as WriteEnd) : 'stale',
  );
}
