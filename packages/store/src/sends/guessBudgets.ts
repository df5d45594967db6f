import { GUESSES_MAX, POINTS_PER_DAY } from '@onecode/domain';
import { type Actor, audited, DIGITS_SHOWN } from '../operations/audit.js';
import type { Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';

/**
 * The points still charged in a row `b` of `guess_budgets` at a time: `POINTS_PER_DAY` points are refunded for each day since the last
 * wrong guess. The time since then is at least 0: of two concurrent guesses, the earlier one may be written last.
 */
export const chargedPoints = (at: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`greatest(0, b.points - ${POINTS_PER_DAY}::integer * greatest(0, extract(epoch from ${at} - b.last_wrong_at))::float8 / 86400)`;

/**
 * The step that counts the guesses of the step `written` at codes of live sends: a wrong guess adds its points to those still charged, a
 * right one sets them to 0. Of several guesses at codes of one recipient, a right one counts as the last. The update is relative to the
 * row, because guesses at other codes of the recipient may be written at the same time. Rows are written in the order of their keys; a
 * right guess writes nothing while the points are 0.
 */
export const COUNTED_GUESSES = Prisma.sql`
  counted as (
    insert into guess_budgets as b (account_id, recipient_key, points, guess_cost, last_wrong_at)
    select account_id, recipient_key, case when bool_or(is_right) then 0 else sum(guess_cost) end, max(guess_cost), clock_timestamp()
    from written w where mode = 'live' group by account_id, recipient_key
    having not bool_or(is_right) or (
      select points from guess_budgets g where g.account_id = w.account_id and g.recipient_key = w.recipient_key limit 1
    ) > 0
    order by account_id, recipient_key
    on conflict (account_id, recipient_key) do update set
      points = case when excluded.points > 0 then ceil(${chargedPoints(Prisma.sql`excluded.last_wrong_at`)}) + excluded.points else 0 end,
      guess_cost = case when b.points > 0 then greatest(b.guess_cost, excluded.guess_cost) else excluded.guess_cost end,
      last_wrong_at = excluded.last_wrong_at
  )`;

/**
 * The maximum number of points of wrong guesses and active codes together, under the settings `c`; null without a budget. It is the budget
 * of the settings, or for codes of fewer than six digits the points of all guesses at three codes, which is more.
 */
export const guessPointsMax = (guessCost: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`case when ${guessCost} = 1 then c.guess_budget when c.guess_budget is not null then ${3 * GUESSES_MAX}::integer * ${guessCost} end`;

/** The recipient of the latest send to which a row `b` of `guess_budgets` applies. */
export const LATEST_RECIPIENT = Prisma.sql`(
  select s.recipient from sends s where s.account_id = b.account_id and s.mode = 'live' and s.recipient_key = b.recipient_key
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
      returning right(${LATEST_RECIPIENT}, ${DIGITS_SHOWN}::integer) as "recipientEndsWith", points / guess_cost as wrong`;
    const [first] = rows;
    const wrongCodes = rows.reduce((sum, { wrong }) => sum + wrong, 0);
    if (first !== undefined) {
      const details = { recipientEndsWith: first.recipientEndsWith, wrongCodes };
      await log({ action: 'account.reset_recipient', accountId, subject: accountId, details });
    }
    return wrongCodes;
  });
}
