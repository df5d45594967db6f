import type { Mode } from '@onecode/domain';
import { type Actor, audited } from '../audit/audit.js';
import type { Connection, Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';

/** A recipient who gets no new code for now, because too many wrong ones in a row were given. */
export interface ExhaustedRecipient {
  /** Stands for the recipient in addresses. */
  id: string;
  mode: Mode;
  /** Canonical, E.164. */
  recipient: string;
  wrongInARow: number;
  lastWrongAt: Date;
  /** When another code may be asked for, if nobody guesses on. */
  recoversAt: Date;
}

/** An account's exhausted recipients, those with the last wrong guess in front. `before` is the `next` of the page before. */
export async function listExhaustedRecipients(
  database: Connection,
  accountId: string,
  { limit, before }: { limit: number; before?: string },
): Promise<{ recipients: ExhaustedRecipient[]; next: string | null }> {
  const rows = await database.$queryRaw<ExhaustedRecipient[]>`
    select b.id, b.mode, b.recipient, b.wrong_in_a_row as "wrongInARow", b.last_wrong_at as "lastWrongAt",
      clock_timestamp() + make_interval(secs => ${GUESSES_BEYOND_BUDGET} / 5 * 86400) as "recoversAt"
    from guess_budgets b, settings s
    where b.account_id = ${accountId}::uuid and ${GUESSES_BEYOND_BUDGET} > 0 and (
      ${before ?? null}::uuid is null
      or (b.last_wrong_at, b.id) < (
        select p.last_wrong_at, p.id from guess_budgets p where p.account_id = ${accountId}::uuid and p.id = ${before ?? null}::uuid
      )
    )
    order by b.last_wrong_at desc, b.id desc limit ${limit + 1}::integer`;
  const recipients = rows.slice(0, limit);
  return { recipients, next: rows.length > limit ? (recipients.at(-1)?.id ?? null) : null };
}

/**
 * Gives a recipient of an account its whole guess budget back, in the mode of the row.
 *
 * @param id of an `ExhaustedRecipient`
 * @returns false when the account has no such recipient
 */
export async function resetRecipient(
  database: Database,
  actor: Actor,
  accountId: string,
  id: string,
): Promise<boolean> {
  return (await reset(database, actor, accountId, Prisma.sql`id = ${id}::uuid`)) > 0;
}

/**
 * Gives a recipient of an account its whole guess budget back, in both modes.
 *
 * @param recipient canonical, E.164
 * @returns how many wrong codes were forgiven, or null when there is no such account
 */
export async function resetGuessCount(
  database: Database,
  actor: Actor,
  accountId: string,
  recipient: string,
): Promise<number | null> {
  const account = await database.account.findUnique({ where: { id: accountId }, select: { id: true } });
  return account === null ? null : reset(database, actor, accountId, Prisma.sql`recipient = ${recipient}`);
}

/** How much of a phone number the audit log may hold. */
const DIGITS_SHOWN = 4;

/** @returns how many wrong codes were forgotten */
async function reset(
  database: Database,
  actor: Actor,
  accountId: string,
  which: Prisma.Sql,
): Promise<number> {
  return audited(database, actor, async (connection) => {
    const rows = await connection.$queryRaw<{ recipient: string; wrong: number }[]>`
      delete from guess_budgets where account_id = ${accountId}::uuid and ${which} returning recipient, wrong_in_a_row as wrong`;
    const [first] = rows;
    const wrongCodes = rows.reduce((sum, { wrong }) => sum + wrong, 0);
    return {
      result: wrongCodes,
      note:
        first === undefined
          ? null
          : {
              action: 'account.reset_recipient',
              accountId,
              subject: accountId,
              details: { recipientEndsWith: first.recipient.slice(-DIGITS_SHOWN), wrongCodes },
            },
    };
  });
}

/**
 * How many guesses, or points of them, a row `b` of `guess_budgets` has too many for another code like those that were guessed at, by
 * the settings `s`, as `create_sends` judges; five come back each day. Null when there is no budget.
 */
export const GUESSES_BEYOND_BUDGET = Prisma.sql`case when s.guess_budget is not null then greatest(
  guesses_left_at(b.wrong_in_a_row, b.last_wrong_at, clock_timestamp()) + case b.mode when 'live' then 5 else 1 end - s.guess_budget,
  guesses_left_at(b.guess_points, b.last_wrong_at, clock_timestamp()) + case b.mode when 'live' then 5 else 1 end * b.guess_cost
    - guess_points_max(s.guess_budget, b.guess_cost)
) end`;

/** How many recipients of an account, in either mode, get no new code for now. As SQL, of a row `a` of `accounts`. */
export const EXHAUSTED_RECIPIENTS = Prisma.sql`(
  select count(distinct b.recipient)::integer from guess_budgets b, settings s where b.account_id = a.id and ${GUESSES_BEYOND_BUDGET} > 0
)`;
