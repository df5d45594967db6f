import { Prisma } from './generated/prisma/client.js';

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
