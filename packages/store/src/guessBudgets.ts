import { audited, type Actor } from './audit.js';
import type { Database } from './database.js';

/** How much of a phone number the audit log may hold. */
const DIGITS_SHOWN = 4;

/**
 * Gives a recipient of an account its whole guess budget back, in both modes.
 *
 * @param recipient E.164
 * @returns how many wrong codes were forgiven, or null when there is no such account
 */
export async function forgiveRecipient(
  database: Database,
  actor: Actor,
  accountId: string,
  recipient: string,
): Promise<number | null> {
  return audited(database, actor, async (connection) => {
    const [row] = await connection.$queryRaw<{ forgiven: number }[]>`
      with gone as (
        delete from guess_budgets where account_id = ${accountId}::uuid and recipient = ${recipient} returning wrong_in_a_row
      )
      select (select coalesce(sum(wrong_in_a_row), 0)::integer from gone) as forgiven
      from accounts where id = ${accountId}::uuid`;
    if (row === undefined) return { result: null, note: null };
    const { forgiven } = row;
    const details = { recipientEndsWith: recipient.slice(-DIGITS_SHOWN), wrongCodes: forgiven };
    const note = { action: 'account.forgive_recipient', accountId, subject: accountId, details };
    return { result: forgiven, note: forgiven === 0 ? null : note };
  });
}
