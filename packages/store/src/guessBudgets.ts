import type { Database } from './database.js';

/**
 * Gives a recipient of an account its whole guess budget back, in both modes.
 *
 * @param recipient E.164
 * @returns how many wrong codes were forgiven, or null when there is no such account
 */
export async function forgiveRecipient(
  database: Database,
  accountId: string,
  recipient: string,
): Promise<number | null> {
  const [row] = await database.$queryRaw<{ forgiven: number }[]>`
    with gone as (
      delete from guess_budgets where account_id = ${accountId}::uuid and recipient = ${recipient} returning wrong_in_a_row
    )
    select (select coalesce(sum(wrong_in_a_row), 0)::integer from gone) as forgiven
    from accounts where id = ${accountId}::uuid`;
  return row?.forgiven ?? null;
}
