import { oncePerClient } from '../client/batcher.js';
import type { Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { createChangeBatcher, updateSends, type Change } from './changeBatcher.js';

/** Writes a judged guess with what it takes from the recipient's budget. @returns whether the row still had the version */
export function writeVerification(database: Database, guess: Change): Promise<boolean> {
  return batcherOf(database)(guess);
}

/**
 * Writes a wrong guess from `uncounted_guesses`, and deletes it there.
 *
 * @param id of its row there
 * @returns whether the send's row still had the version
 */
export async function writeUncountedGuess(database: Database, guess: Change, id: string): Promise<boolean> {
  const written = await database.sql.query<{ id: string }[]>`
    with ${updateSends([guess], JUDGED)}, ${BY_RECIPIENT}, ${counted(Prisma.empty)}, done as (
      delete from uncounted_guesses where id = ${id}::uuid and exists (select from changed)
    )
    select id from changed`;
  return written.length > 0;
}

const batcherOf = oncePerClient((database: Database) =>
  createChangeBatcher((guesses) => {
    if (guesses.every(isRight)) return writeRightGuesses(database, guesses);
    return guesses.some(isRight)
      ? writeMixedGuesses(database, guesses)
      : writeWrongGuesses(database, guesses);
  }),
);

const isRight = ({ before, after }: Change): boolean =>
  before.verification !== 'verified' && after.verification === 'verified';

export const isGuess = (change: Change): boolean =>
  isRight(change) || change.after.wrongGuesses > change.before.wrongGuesses;

const JUDGED = {
  records: {
    columns: Prisma.sql`is_right boolean, judged_at timestamptz`,
    valuesOf: (guess: Change) => ({ is_right: isRight(guess), judged_at: guess.judgedAt ?? null }),
  },
  set: Prisma.sql`wrong_guess_times = case when c.is_right then s.wrong_guess_times
    else array_append(s.wrong_guess_times, coalesce(c.judged_at, clock_timestamp())::timestamptz(3)) end`,
  returning: Prisma.sql`s.id, s.account_id, s.mode, s.canonical_recipient as recipient, s.guess_cost, c.is_right`,
};

/** What the guesses of `changed` at each recipient cost. */
const BY_RECIPIENT = Prisma.sql`
  by_recipient as materialized (
    select account_id, mode, recipient, bool_or(is_right) as is_right, count(*) filter (where not is_right) as wrong,
      sum(guess_cost) filter (where not is_right) as points, max(guess_cost) filter (where not is_right) as guess_cost
    from changed group by account_id, mode, recipient
  )`;

/**
 * Locks the guess budgets after the sends, as everybody does, and in the order of their keys: the deletion that follows would lock them
 * in no order. One probe for each.
 */
const BUDGETS = Prisma.sql`
  budgets as materialized (
    select b.*, r.is_right from (select * from by_recipient order by account_id, mode, recipient) r
    cross join lateral (
      select account_id, mode, recipient from guess_budgets
      where account_id = r.account_id and mode = r.mode and recipient = r.recipient for update
    ) b
  )`;

/** Adds wrong guesses to the budgets, which it locks in the order of their keys. */
const counted = (where: Prisma.Sql): Prisma.Sql => Prisma.sql`
  counted as (
    insert into guess_budgets as b (account_id, mode, recipient, wrong_in_a_row, guess_points, guess_cost, last_wrong_at)
    select account_id, mode, recipient, wrong, points, guess_cost, clock_timestamp() from by_recipient ${where}
    order by account_id, mode, recipient
    on conflict (account_id, mode, recipient) do update
      set wrong_in_a_row = ceil(guesses_left_at(b.wrong_in_a_row, b.last_wrong_at, excluded.last_wrong_at))::integer
          + excluded.wrong_in_a_row,
        guess_points = ceil(guesses_left_at(b.guess_points, b.last_wrong_at, excluded.last_wrong_at))::integer
          + excluded.guess_points,
        guess_cost = greatest(b.guess_cost, excluded.guess_cost),
        last_wrong_at = excluded.last_wrong_at
  )`;

/** Resets the budgets of right guesses. */
const RESET = Prisma.sql`
  reset as (
    delete from guess_budgets b using budgets r
    where r.is_right and b.account_id = any(array(select account_id from budgets where is_right))
      and b.recipient = any(array(select recipient from budgets where is_right))
      and b.account_id = r.account_id and b.mode = r.mode and b.recipient = r.recipient
  )`;

function writeWrongGuesses(database: Database, guesses: readonly Change[]): Promise<{ id: string }[]> {
  return database.sql.query<{ id: string }[]>`
    with ${updateSends(guesses, JUDGED)}, ${BY_RECIPIENT}, ${counted(Prisma.empty)} select id from changed`;
}

function writeRightGuesses(database: Database, guesses: readonly Change[]): Promise<{ id: string }[]> {
  return database.sql.query<{ id: string }[]>`
    with ${updateSends(guesses, JUDGED)}, ${BY_RECIPIENT}, ${BUDGETS}, ${RESET} select id from changed`;
}

/** Where guesses at one recipient come together, a right one counts last: it resets the budget. */
function writeMixedGuesses(database: Database, guesses: readonly Change[]): Promise<{ id: string }[]> {
  // The condition on the budgets is always true: it makes their locks come first.
  const ofWrongOnly = Prisma.sql`where not is_right and (select count(*) from budgets) >= 0`;
  return database.sql.query<{ id: string }[]>`
    with ${updateSends(guesses, JUDGED)}, ${BY_RECIPIENT}, ${BUDGETS}, ${counted(ofWrongOnly)}, ${RESET} select id from changed`;
}
