import { randomUUID } from 'node:crypto';
import { oncePerClient } from '../client/batcher.js';
import type { Database } from '../client/database.js';

/** A wrong guess that was judged and could not be written to its send. */
export interface UncountedGuess {
  id: string;
  sendId: string;
  judgedAt: Date;
  /** Its change was written after all: only the answer was lost. */
  isCounted: boolean;
}

/** A worker that took a guess has this long to write it. */
const LEASE_SECONDS = 30;
/** Sends whose guesses are nowhere but in this process. */
const UNRECORDED_MAX = 10_000;

/** How one process judges guesses, so that each that was judged counts. */
export interface GuessKeeper {
  /**
   * Runs `guess` when no other guess of this process at the same send is under way: while writes fail, guesses at once would all be
   * judged by the same count. Those that waited for one that failed fail with it, and are not judged.
   */
  inTurn<R>(sendId: string, guess: () => Promise<R>): Promise<R>;
  /** Records a wrong guess that could not be written. Where that fails too, this process judges no more guesses at its send until it can. */
  record(sendId: string, judgedAt: Date): Promise<void>;
}

/** The keeper of a database's guesses. */
export const guessKeeperOf = oncePerClient((database: Database): GuessKeeper => {
  const turns = new Map<string, Promise<unknown>>();
  const unrecorded = new Map<string, { id: string; judgedAt: Date }[]>();

  async function recordAll(sendId: string): Promise<void> {
    const guesses = unrecorded.get(sendId);
    if (guesses === undefined) {
      if (unrecorded.size >= UNRECORDED_MAX) throw new Error('too many guesses could not be recorded');
      return;
    }
    // One that was recorded although the answer was lost is not recorded again. No two of a send have the same time.
    await database.sql.execute`
      insert into uncounted_guesses (id, send_id, judged_at)
      select id, ${sendId}::uuid, greatest(judged_at, (
        select max(judged_at) + interval '1 ms' from uncounted_guesses where send_id = ${sendId}::uuid
      ))
      from unnest(${guesses.map(({ id }) => id)}::uuid[], ${guesses.map(({ judgedAt }) => judgedAt.toISOString())}::timestamptz[]) as g (id, judged_at)
      on conflict (id) do nothing`;
    unrecorded.delete(sendId);
  }

  return {
    inTurn(sendId, guess) {
      const judge = (): ReturnType<typeof guess> =>
        unrecorded.size === 0 ? guess() : recordAll(sendId).then(guess);
      const before = turns.get(sendId);
      const own = before === undefined ? judge() : before.then(judge);
      const end = (): void => {
        if (turns.get(sendId) === own) turns.delete(sendId);
      };
      turns.set(sendId, own);
      own.then(end, end);
      return own;
    },
    async record(sendId, judgedAt) {
      unrecorded.set(sendId, [...(unrecorded.get(sendId) ?? []), { id: randomUUID(), judgedAt }]);
      await recordAll(sendId);
    },
  };
});

/** Takes the guesses that are due, oldest first. They are taken again after half a minute if they are not written by then. */
export function takeUncountedGuesses(database: Database, limit: number): Promise<UncountedGuess[]> {
  return database.sql.query<UncountedGuess[]>`
    with due as materialized (
      select id from uncounted_guesses where due_at <= statement_timestamp() order by due_at, id limit ${limit} for update skip locked
    )
    update uncounted_guesses set due_at = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    where id = any(array(select id from due)) 
    returning id, send_id as "sendId", judged_at as "judgedAt", exists (
      select from sends s where s.id = send_id and uncounted_guesses.judged_at = any(s.wrong_guess_times)
    ) as "isCounted"`;
}

/** Deletes a guess that need not be written any more. */
export async function deleteUncountedGuess(
  database: Database,
  { id }: Pick<UncountedGuess, 'id'>,
): Promise<void> {
  await database.sql.execute`delete from uncounted_guesses where id = ${id}::uuid`;
}

/** Deletes guesses that nobody could write for a day: their codes expired long ago. */
export async function deleteOldUncountedGuesses(database: Database): Promise<void> {
  await database.sql
    .execute`delete from uncounted_guesses where judged_at < statement_timestamp() - interval '1 day'`;
}
