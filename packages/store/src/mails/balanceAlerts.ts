import { type Account, changeAccountRow } from '../accounts/accounts.js';
import type { Connection, Database } from '../client/database.js';
import type { Actor } from '../operations/audit.js';
import { writeMails } from './writeMails.js';

/**
 * Sets the balance, at least 1, below which an account's admins get a mail; null turns the mails off.
 *
 * @returns the changed account, or null if it does not exist
 */
export function setBalanceAlert(
  database: Database,
  actor: Actor,
  accountId: string,
  below: number | null,
): Promise<Account | null> {
  return changeAccountRow(database, actor, 'account.balance_alert', accountId, async ({ sql }) => {
    await sql.execute`
      update accounts set low_balance = ${below}::integer, low_balance_at = null
      where id = ${accountId}::uuid and low_balance is distinct from ${below}::integer`;
  });
}

/**
 * Queues a mail to each account with a balance that has fallen below its alert, once until the balance has risen above the alert by a
 * tenth.
 */
export async function queueLowBalanceAlerts(database: Database): Promise<void> {
  await database.sql.execute`
    update accounts set low_balance_at = null
    where low_balance is not null and low_balance_at is not null and free_quota::bigint + credits >= low_balance + ceil(low_balance / 10.0)`;
  const low = await database.sql.query<{ id: string }[]>`
    select id from accounts
    where low_balance is not null and low_balance_at is null and free_quota::bigint + credits < low_balance and delete_at is null`;
  let fault: unknown;
  for (const { id } of low)
    // A slow count of one account's sends does not block other accounts.
    await queueLowBalanceAlert(database, id).catch((error: unknown) => (fault ??= error));
  if (fault !== undefined) throw fault;
}

async function queueLowBalanceAlert(database: Database, accountId: string): Promise<void> {
  // Read before the update, because the update locks the row that every creation writes.
  const perDay = await countLiveSends(database, accountId);
  await database.transaction(async (connection) => {
    // Only one of several workers changes the row.
    const [low] = await connection.sql.query<{ at: string; below: number; left: number }[]>`
      update accounts set low_balance_at = clock_timestamp()
      where id = ${accountId}::uuid and low_balance_at is null and free_quota::bigint + credits < low_balance
      returning extract(epoch from low_balance_at)::text as at, low_balance as below, (free_quota::bigint + credits)::float8 as left`;
    if (low === undefined) return;
    const { at, below, left } = low;
    const event = `low_balance ${accountId} ${at}`;
    const facts = { below, left, perDay };
    await writeMails(connection, { kind: 'low_balance', event, facts }, { adminsOf: accountId });
  });
}

/** Sends above this number are not counted: such an account runs out of units within the day. */
const COUNTED_MAX = 100_000;

async function countLiveSends({ sql }: Connection, accountId: string): Promise<number> {
  const [row] = await sql.query<[{ count: number }]>`
    select count(*)::integer as count from (
      select from applications p cross join lateral (
        select from sends s where s.application_id = p.id and s.id >= first_id_at(statement_timestamp() - interval '1 day')
        limit ${COUNTED_MAX}::integer
      ) s where p.account_id = ${accountId}::uuid and p.mode = 'live' limit ${COUNTED_MAX}::integer
    ) counted`;
  return row.count;
}
