import { GUESSES_MAX, POINTS_PER_DAY, type Mode } from '@onecode/domain';
import { type Actor, audited, DIGITS_SHOWN } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';

/** A recipient with no guess budget left: after too many wrong codes in a row, no new code is sent for now. */
export interface ExhaustedRecipient {
  /** Identifies the recipient in URLs. */
  id: string;
  mode: Mode;
  /** From the latest send to the recipient, E.164 or masked; null after all its sends are deleted. */
  recipient: string | null;
  /** The points converted to wrong guesses in a row, at the cost of the easiest code that was guessed at. */
  wrongInARow: number;
  lastWrongAt: Date;
  /** When a new code may be requested if no further wrong guess follows. */
  recoversAt: Date;
}

/** The most listed recipients. More are exhausted only during an attack, and recover by themselves. */
const LISTED_MAX = 500;

/** Returns an account's exhausted recipients, latest wrong guess first. */
export async function listExhaustedRecipients(
  database: Connection,
  accountId: string,
): Promise<ExhaustedRecipient[]> {
  return database.sql.query`
    select b.id, b.mode, ${RECIPIENT} as recipient, b.points / b.guess_cost as "wrongInARow", b.last_wrong_at as "lastWrongAt",
      clock_timestamp() + make_interval(secs => ${POINTS_BEYOND_BUDGET} / ${POINTS_PER_DAY}::integer * 86400) as "recoversAt"
    from guess_budgets b, settings c
    where b.account_id = ${accountId}::uuid and ${POINTS_BEYOND_BUDGET} > 0
    order by b.last_wrong_at desc, b.id desc limit ${LISTED_MAX}::integer`;
}

/** The recipient of the latest send to which a row `b` of `guess_budgets` applies. */
const RECIPIENT = Prisma.sql`(
  select s.recipient from sends s where s.account_id = b.account_id and s.mode = b.mode and s.recipient_key = b.recipient_key
  order by s.created_at desc limit 1
)`;

/**
 * Resets guess budgets of one recipient of an account: those under all its keys, or one by its id.
 *
 * @param which all keys of the recipient, or the id of an `ExhaustedRecipient`
 * @returns how many wrong guesses had been counted, or null if the account does not exist
 */
export async function resetGuessBudgets(
  database: Database,
  actor: Actor,
  accountId: string,
  which: { recipientKeys: readonly string[] } | { id: string },
): Promise<number | null> {
  const condition =
    'id' in which
      ? Prisma.sql`id = ${which.id}::uuid`
      : Prisma.sql`recipient_key = any(${[...which.recipientKeys]}::text[])`;
  return audited(database, actor, async (connection, log) => {
    if ((await connection.prisma.account.count({ where: { id: accountId } })) === 0) return null;
    const rows = await connection.sql.query<{ recipientEndsWith: string | null; wrong: number }[]>`
      delete from guess_budgets b where account_id = ${accountId}::uuid and ${condition}
      returning right(${RECIPIENT}, ${DIGITS_SHOWN}::integer) as "recipientEndsWith", points / guess_cost as wrong`;
    const [first] = rows;
    const wrongCodes = rows.reduce((sum, { wrong }) => sum + wrong, 0);
    if (first !== undefined) {
      const details = { recipientEndsWith: first.recipientEndsWith, wrongCodes };
      await log({ action: 'account.reset_recipient', accountId, subject: accountId, details });
    }
    return wrongCodes;
  });
}

/**
 * The points still charged in a row `b` of `guess_budgets` at a time: `POINTS_PER_DAY` points are refunded for each day since the last
 * wrong guess. Of two concurrent guesses, the one written last may be the earlier one.
 */
export const chargedPoints = (at: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`greatest(0, b.points - ${POINTS_PER_DAY}::integer * greatest(0, extract(epoch from ${at} - b.last_wrong_at))::float8 / 86400)`;

/**
 * The step that counts the guesses of the step `written`: a wrong guess adds its points to those still charged, a right one sets them to 0.
 * Of several guesses at codes of one recipient, a right one counts as the last. The update is relative to the row, because guesses at other
 * codes of the recipient may be written at the same time. Rows are written in the order of their keys; a right guess without a counted
 * budget writes nothing.
 */
export const COUNTED_GUESSES = Prisma.sql`
  counted as (
    insert into guess_budgets as b (account_id, mode, recipient_key, points, guess_cost, last_wrong_at)
    select account_id, mode, recipient_key, case when bool_or(is_right) then 0 else sum(guess_cost) end, max(guess_cost), clock_timestamp()
    from written w group by account_id, mode, recipient_key
    having not bool_or(is_right) or (
      select points from guess_budgets g
      where g.account_id = w.account_id and g.mode = w.mode and g.recipient_key = w.recipient_key limit 1
    ) > 0
    order by account_id, mode, recipient_key
    on conflict (account_id, mode, recipient_key) do update set
      points = case when excluded.points > 0 then ceil(${chargedPoints(Prisma.sql`excluded.last_wrong_at`)}) + excluded.points else 0 end,
      guess_cost = case when b.points > 0 then greatest(b.guess_cost, excluded.guess_cost) else excluded.guess_cost end,
      last_wrong_at = excluded.last_wrong_at
  )`;

/**
 * The maximum number of points of wrong guesses and active codes together, under the settings `c`: the budget, or for codes of fewer than
 * six digits the points of all guesses at three such codes, which are more. Null without a budget.
 */
export const guessPointsMax = (guessCost: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`case when ${guessCost} = 1 then c.guess_budget when c.guess_budget is not null then ${3 * GUESSES_MAX}::integer * ${guessCost} end`;

/**
 * The number of points by which another code like the guessed ones would exceed the budget of a row `b` of `guess_budgets`, under the
 * settings `c`. The rule is the same as in `decideCreations`. Null if the budget is off.
 */
const POINTS_BEYOND_BUDGET = Prisma.sql`(
  ${chargedPoints(Prisma.sql`clock_timestamp()`)} + case b.mode when 'live' then ${GUESSES_MAX}::integer else 1 end * b.guess_cost
    - ${guessPointsMax(Prisma.sql`b.guess_cost`)}
)`;
