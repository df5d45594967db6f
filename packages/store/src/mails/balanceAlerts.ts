import { audited, type Actor } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';
import { writeMails } from './writeMails.js';

/** Returns the balance below which an account's admins get a mail; null if it is off. */
export async function readBalanceAlert({ sql }: Connection, accountId: string): Promise<number | null> {
  const [alert] = await sql.query<{ below: number }[]>`
    select below from balance_alerts where account_id = ${accountId}::uuid`;
  return alert?.below ?? null;
}

/** Sets that balance, at least 1; null turns the mails off. @returns false if the account does not exist */
export function setBalanceAlert(
  database: Database,
  actor: Actor,
  accountId: string,
  below: number | null,
): Promise<boolean> {
  return audited(database, actor, async (connection, log) => {
    const accounts = await connection.prisma.account.count({ where: { id: accountId } });
    if (accounts === 0) return false;
    const before = await readBalanceAlert(connection, accountId);
    if (below === before) return true;
    if (below === null)
      await connection.sql.execute`delete from balance_alerts where account_id = ${accountId}::uuid`;
    else
      await connection.sql.execute`
        insert into balance_alerts (account_id, below) values (${accountId}::uuid, ${below}::integer)
        on conflict (account_id) do update set below = excluded.below, crossed_at = null`;
    const details = { before: { balanceAlert: before }, after: { balanceAlert: below } };
    await log({ action: 'account.balance_alert', accountId, subject: accountId, details });
    return true;
  });
}

/**
 * Queues a mail to each account with a balance that has fallen below its alert, once until the balance has risen above the alert by a
 * tenth.
 */
export async function queueLowBalanceAlerts(database: Database): Promise<void> {
  await database.sql.execute`
    update balance_alerts b set crossed_at = null from accounts a
    where a.id = b.account_id and b.crossed_at is not null and a.free_quota::bigint + a.credits >= b.below + ceil(b.below / 10.0)`;
  const low = await database.sql.query<{ account_id: string }[]>`
    select b.account_id from balance_alerts b join accounts a on a.id = b.account_id
    where b.crossed_at is null and a.free_quota::bigint + a.credits < b.below and a.delete_at is null`;
  let fault: unknown;
  for (const { account_id: accountId } of low)
    // A slow count of one account's sends does not block other accounts.
    await queueLowBalanceAlert(database, accountId).catch((error: unknown) => (fault ??= error));
  if (fault !== undefined) throw fault;
}

function queueLowBalanceAlert(database: Database, accountId: string): Promise<void> {
  return database.transaction(async (connection) => {
    // Only one of several workers gets the row.
    const [crossed] = await connection.sql.query<{ at: string; below: number; left: number }[]>`
        update balance_alerts b set crossed_at = clock_timestamp() from accounts a
        where b.account_id = ${accountId}::uuid and a.id = b.account_id and b.crossed_at is null and a.free_quota::bigint + a.credits < b.below
        returning extract(epoch from b.crossed_at)::text as at, b.below, (a.free_quota::bigint + a.credits)::float8 as left`;
    if (crossed === undefined) return;
    const { at, below, left } = crossed;
    const facts = { below, left, perDay: await countLiveSends(connection, accountId) };
    const event = `low_balance ${accountId} ${at}`;
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
