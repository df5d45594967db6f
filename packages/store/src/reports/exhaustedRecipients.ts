import { GUESSES_MAX, POINTS_PER_DAY } from '@onecode/domain';
import type { Connection } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { chargedPoints, guessPointsMax, LATEST_RECIPIENT } from '../sends/guessBudgets.js';

/** A recipient with no guess budget left: after too many wrong codes in a row, no new code is sent for now. */
export interface ExhaustedRecipient {
  /** Identifies the recipient in URLs. */
  id: string;
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
    select b.id, ${LATEST_RECIPIENT} as recipient, b.points / b.guess_cost as "wrongInARow", b.last_wrong_at as "lastWrongAt",
      clock_timestamp() + make_interval(secs => ${POINTS_BEYOND_BUDGET} / ${POINTS_PER_DAY}::integer * 86400) as "recoversAt"
    from guess_budgets b, settings c
    where b.account_id = ${accountId}::uuid and ${POINTS_BEYOND_BUDGET} > 0
    order by b.last_wrong_at desc, b.id desc limit ${LISTED_MAX}::integer`;
}

/**
 * The number of points by which another code like the guessed ones would exceed the budget of a row `b` of `guess_budgets`, under the
 * settings `c`. The rule is the same as in `decideCreations`. Null if the budget is off.
 */
const POINTS_BEYOND_BUDGET = Prisma.sql`(
  ${chargedPoints(Prisma.sql`clock_timestamp()`)} + ${GUESSES_MAX}::integer * b.guess_cost
    - ${guessPointsMax(Prisma.sql`b.guess_cost`)}
)`;
