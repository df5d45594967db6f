import { oncePerClient } from '../client/batcher.js';
import type { Database } from '../client/database.js';
import { createChangeBatcher, recordsOf, type Change } from './changeBatcher.js';
import { assignments, RECORD_COLUMNS } from './sendRow.js';

/** Writes a judged guess with what it takes from the recipient's budget. @returns whether the row still had the version */
export function writeVerification(database: Database, guess: Change): Promise<boolean> {
  return batcherOf(database)(guess);
}

const batcherOf = oncePerClient((database: Database) =>
  createChangeBatcher((guesses) => writeGuesses(database, guesses)),
);

const isRight = ({ before, after }: Change): boolean =>
  before.verification !== 'verified' && after.verification === 'verified';

export const isGuess = (change: Change): boolean =>
  isRight(change) || change.after.wrongGuesses > change.before.wrongGuesses;

/**
 * Writes guesses at different sends in one statement, each guarded by its row's version. Everybody locks sends in the order of their
 * ids and then guess budgets in the order of their keys, so that no two statements wait for each other. Where guesses at one recipient
 * come together, a right one counts last: it resets the budget.
 */
function writeGuesses(database: Database, guesses: readonly Change[]): Promise<{ id: string }[]> {
  const records = recordsOf(guesses, (guess) => ({ is_right: isRight(guess) }));
  return database.sql.query<{ id: string }[]>`
    with guesses as materialized (
      select * from json_to_recordset(${records}::json) as g (id uuid, version integer, ${RECORD_COLUMNS}, is_right boolean)
    ), locked as materialized (
      -- One probe for each send, in the order of the ids.
      select s.id from (select id, version from guesses order by id) g
      cross join lateral (select id from sends where id = g.id and version = g.version for no key update) s
    ), judged as (
      update sends s set ${assignments('g')}, next_enqueue_at = g.due_at + interval '1 second',
        wrong_guess_times = case when g.is_right then s.wrong_guess_times
          else array_append(s.wrong_guess_times, clock_timestamp()::timestamptz(3)) end,
        version = s.version + 1
      from guesses g
      where s.id = any(array(select id from locked)) and g.id = s.id and g.version = s.version
      returning s.id, s.account_id, s.mode, s.canonical_recipient as recipient, s.guess_cost, g.is_right
    ), by_recipient as materialized (
      select account_id, mode, recipient, bool_or(is_right) as is_right, count(*) filter (where not is_right) as wrong,
        sum(guess_cost) filter (where not is_right) as points, max(guess_cost) filter (where not is_right) as guess_cost
      from judged group by account_id, mode, recipient
    ), budgets as materialized (
      -- One probe for each budget, in the order of the keys: the delete below would lock them in no order.
      select b.*, r.is_right from (select * from by_recipient order by account_id, mode, recipient) r
      cross join lateral (
        select account_id, mode, recipient from guess_budgets
        where account_id = r.account_id and mode = r.mode and recipient = r.recipient for update
      ) b
    ), counted as (
      insert into guess_budgets as b (account_id, mode, recipient, wrong_in_a_row, guess_points, guess_cost, last_wrong_at)
      select account_id, mode, recipient, wrong, points, guess_cost, clock_timestamp() from by_recipient
      -- After all budgets are locked.
      where not is_right and (select count(*) from budgets) >= 0
      order by account_id, mode, recipient
      on conflict (account_id, mode, recipient) do update
        set wrong_in_a_row = ceil(guesses_left_at(b.wrong_in_a_row, b.last_wrong_at, excluded.last_wrong_at))::integer
            + excluded.wrong_in_a_row,
          guess_points = ceil(guesses_left_at(b.guess_points, b.last_wrong_at, excluded.last_wrong_at))::integer
            + excluded.guess_points,
          guess_cost = greatest(b.guess_cost, excluded.guess_cost),
          last_wrong_at = excluded.last_wrong_at
    ), reset as (
      delete from guess_budgets b using budgets r
      where r.is_right and b.account_id = any(array(select account_id from budgets where is_right))
        and b.recipient = any(array(select recipient from budgets where is_right))
        and b.account_id = r.account_id and b.mode = r.mode and b.recipient = r.recipient
    )
    select id from judged`;
}
