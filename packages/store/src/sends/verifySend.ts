import { GUESSES_MAX, type Judgement } from '@onecode/domain';
import {
  byOrdinal,
  createBatcher,
  oncePerClient,
  OVERLAPPING_BATCHES_MAX,
  type WithOrdinal,
} from '../client/batcher.js';
import type { Database } from '../client/database.js';
import { bytesText, refusesValues } from '../client/sql.js';
import { Prisma } from '../generated/prisma/client.js';

/** A guess at the code of an account's send. */
export interface Guess {
  id: string;
  accountId: string;
  /** What the send's `code_hash` is if the guess is right: one for each pepper of the keyring (`hashesOf`). */
  hashes: readonly Uint8Array[];
}

/** A guess that was judged, with the trace that the send's creation belongs to. */
export interface JudgedGuess extends Judgement {
  traceparent: string | null;
}

/** Whether the guess `j` ends the code of the send `s`: it is right, or the last wrong one. */
const ENDS = Prisma.raw(`(j.is_right or s.wrong_guesses = ${GUESSES_MAX - 1})`);
/** Whether the send `s` is still ours to deliver, and whether it waits. */
const UNDELIVERED = Prisma.raw(`(s.status in ('queued', 'sending') or s.lost_at is not null)`);
const WAITING = Prisma.sql`(s.mode = 'live' and ${UNDELIVERED} and s.claimed_until is null)`;
/** Guesses in one batch: their sends are locked while it lasts. */
const BATCH_MAX = 100;
/** Sends of which a process knows that the database refuses a guess. */
const REFUSED_MAX = 10_000;

/**
 * Judges a guess by the rule `judge` of `packages/domain`, and writes what follows from it: the count, the time, the end of the delivery
 * and the recipient's guess budget. A right code for a failed send charges the refunded unit again. One statement locks the send, judges and writes, so that no guess is judged that does not count.
 * Guesses at different sends share it; guesses at one send take turns. Once the database has refused to write a guess at a send, this
 * process judges no further ones: the send is as if locked.
 *
 * @returns null when the account has no such send
 * @throws Error when the pepper of the send's hash has left the keyring
 */
export function verifySend(database: Database, guess: Guess): Promise<JudgedGuess | null> {
  return verifierOf(database)(guess);
}

type JudgedRow = {
  judgement: 'right' | 'wrong' | 'unknown_pepper' | Judgement['verification'];
  /** With this one; null where nothing was written. */
  wrong_guesses: number | null;
  traceparent: string | null;
  was_overtaken: boolean;
};

const verifierOf = oncePerClient((database: Database) => {
  const verify = createBatcher(
    async (guesses: Guess[]): Promise<(JudgedRow | null | 'again')[]> => {
      const first = new Map<string, Guess>();
      for (const guess of guesses) if (!first.has(guess.id)) first.set(guess.id, guess);
      const rows = await judgeGuesses(database, [...first.values()]);
      const judged = new Map([...first.keys()].map((id, index) => [id, rows[index]]));
      return guesses.map((guess) =>
        first.get(guess.id) === guess ? (judged.get(guess.id) ?? null) : 'again',
      );
    },
    { batchSizeMax: BATCH_MAX, concurrentBatchesMax: OVERLAPPING_BATCHES_MAX },
  );
  const refused = new Set<string>();
  return async (guess: Guess): Promise<JudgedGuess | null> => {
    try {
      for (;;) {
        if (refused.has(guess.id)) return LOCKED;
        const row = await verify(guess);
        if (row !== 'again' && row?.was_overtaken !== true) return row && judgementOf(row);
      }
    } catch (error) {
      // A rule of the database that refuses wrong guesses and not right ones would tell them apart, time after time.
      if (refusesValues(error) && refused.size < REFUSED_MAX) refused.add(guess.id);
      throw error;
    }
  };
});

const LOCKED: JudgedGuess = { valid: false, verification: 'locked', attemptsLeft: 0, traceparent: null };

function judgementOf({ judgement, wrong_guesses: wrong, traceparent }: JudgedRow): JudgedGuess {
  switch (judgement) {
    case 'unknown_pepper':
      throw new Error('the pepper of a code has left the keyring');
    case 'right':
      return { valid: true, verification: 'verified', attemptsLeft: 0, traceparent };
    case 'wrong':
      if (wrong === null) throw new Error('a wrong guess was not counted');
      return wrong < GUESSES_MAX
        ? { valid: false, verification: 'pending', attemptsLeft: GUESSES_MAX - wrong, traceparent }
        : { valid: false, verification: 'locked', attemptsLeft: 0, traceparent };
    default:
      return { valid: false, verification: judgement, attemptsLeft: 0, traceparent };
  }
}

/** Judges guesses at different sends. @returns null for those whose account has no such send */
async function judgeGuesses(database: Database, guesses: readonly Guess[]): Promise<(JudgedRow | null)[]> {
  const json = JSON.stringify(
    guesses.map(({ id, accountId, hashes }, index) => ({
      ordinal: index + 1,
      id,
      account_id: accountId,
      hashes: hashes.map(bytesText),
    })),
  );
  const rows = await database.sql.query<WithOrdinal<JudgedRow>[]>`
    with guesses as materialized (
      select * from json_to_recordset(${json}::json) as g (ordinal bigint, id uuid, account_id uuid, hashes bytea[])
    ), locked as materialized (
      -- In the order of the ids, as everybody locks sends, and the time after the lock. Times have milliseconds.
      select g.ordinal, g.hashes, s.*, date_trunc('milliseconds', clock_timestamp()) as now
      from (select * from guesses order by id) g cross join lateral (
        select id, account_id, mode, recipient_key, code_hash, guess_cost, verification, expires_at, traceparent,
          -- The bucket that the unit was returned to.
          case when status = 'failed' then charged_from end as refunded_to
        -- "is true" keeps other indexes away, also from a plan that was made while there were few sends.
        from sends where id = g.id and (account_id = g.account_id) is true for no key update
      ) s
    ), judged as materialized (
      select *, judgement = 'wrong' as is_wrong, judgement = 'right' as is_right from (
        select *, case
          when verification <> 'pending' then verification
          when now >= expires_at then 'expired'
          when code_hash = any (hashes) then 'right'
          when exists (select from unnest(hashes) h where get_byte(h, 0) = get_byte(code_hash, 0)) then 'wrong'
          else 'unknown_pepper'
        end as judgement from locked
      ) l
    ), written as (
      -- From the row itself alone: PostgreSQL checks a first draft that is made of the row as it was before the lock. A code that has ended
      -- is sent no more: whoever waits is due, and fails then; a delivered message's code is erased.
      update sends s set version = s.version + 1,
        verification = case when j.is_right then 'verified' when ${ENDS} then 'locked' else s.verification end,
        verified_at = case when j.is_right then j.now end, locked_at = case when j.is_wrong and ${ENDS} then j.now end,
        wrong_guesses = s.wrong_guesses + j.is_wrong::integer,
        wrong_guess_times = case when j.is_wrong then array_append(s.wrong_guess_times, j.now) else s.wrong_guess_times end,
        sealed_code = case when ${ENDS} and not ${UNDELIVERED} then null else s.sealed_code end,
        awaiting_sender = s.awaiting_sender and not (${ENDS} and ${WAITING}),
        due_at = case when ${ENDS} and ${WAITING} then greatest(j.now, s.receipt_until) else s.due_at end
      from judged j
      where s.id = any (array(select id from judged where is_right or is_wrong)) and s.id = j.id and s.verification = 'pending'
      returning s.id, s.wrong_guesses
    ), by_recipient as materialized (
      -- Where guesses at several codes of one recipient come together, a right one counts last.
      select account_id, mode, recipient_key, sum(guess_cost) as points, max(guess_cost) as guess_cost, bool_or(is_right) as is_right
      from judged join written using (id) group by account_id, mode, recipient_key
    ), budgets as (
      -- In the order of the keys, and nothing for those who guess right at once.
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
    select j.ordinal, j.judgement, w.wrong_guesses, j.traceparent, (j.is_right or j.is_wrong) and w.id is null as was_overtaken,
      case when j.is_right and w.id is not null and j.refunded_to is not null then reclaim_unit(j.id, j.account_id, j.refunded_to) end
    -- In the order in which accounts are locked.
    from judged j left join written w using (id) order by j.account_id`;
  return byOrdinal(guesses, rows).map((row) => row ?? null);
}
