import { isMasked } from '@onecode/domain';
import { type Actor, audited } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { replaceNumbers } from './retention.js';

/** The time limit of a transaction on all sends to a recipient. A number that a customer tests with can have tens of thousands. */
export const ALL_SENDS_MS_MAX = 60_000;
/** The most sends that one statement masks, so that it ends before the statement time-out. */
const PAGE = 1_000;

/** SQL for the sends `s` to a recipient, of one account or of all, through the index by recipient. */
export const sendsTo = (recipientKeys: readonly string[], accountId: string | null): Prisma.Sql => Prisma.sql`
  accounts a cross join unnest(array['test', 'live']) m (mode) cross join unnest(${[...recipientKeys]}::text[]) k (recipient_key)
  cross join lateral (
    select * from sends where account_id = a.id and mode = m.mode and recipient_key = k.recipient_key order by created_at
  ) s
  where ${accountId}::uuid is null or a.id = ${accountId}::uuid`;

/**
 * Erases a recipient. Its active codes expire now, so that waiting sends fail and refund their units like any expired send. Every send
 * keeps only the masked number, and identities are forgotten. Money, counts and limits do not change.
 *
 * @param recipientKeys all keys of the recipient
 * @param accountId null for all accounts
 * @param reason for the audit log, which gets one entry, without the number, for each account that has such sends
 * @returns the number of sends that held the number, and of codes that were active until then; null if the account does not exist
 */
export async function eraseRecipient(
  database: Database,
  actor: Actor,
  recipientKeys: readonly string[],
  accountId: string | null,
  reason: string,
): Promise<{ sendsErased: number; codesEnded: number } | null> {
  return audited(
    database,
    actor,
    async (connection, log) => {
      if (!(await accountExists(connection, accountId))) return null;
      const sends = await lockSends(connection, recipientKeys, accountId);
      let sendsErased = 0;
      for (let first = 0; first < sends.length; first += PAGE)
        sendsErased += await replaceNumbers(connection, sends.slice(first, first + PAGE));
      const open = sends.filter(({ is_open }) => is_open);
      await endCodes(
        connection,
        open.map(({ id }) => id),
      );
      const ids = sends.map(({ id }) => id);
      await connection.sql.execute`delete from send_identities where send_id = any(${ids}::uuid[])`;
      const changed = sends.filter(({ recipient, is_open }) => is_open || !isMasked(recipient));
      for (const account of new Set(changed.map(({ account_id }) => account_id))) {
        const own = changed.filter(({ account_id }) => account_id === account);
        const details = {
          reason,
          sends: own.length,
          codesEnded: own.filter(({ is_open }) => is_open).length,
        };
        await log({ action: 'recipient.erase', accountId: account, subject: account, details });
      }
      return { sendsErased, codesEnded: open.length };
    },
    { timeout: ALL_SENDS_MS_MAX },
  );
}

export const accountExists = async ({ prisma }: Connection, accountId: string | null): Promise<boolean> =>
  accountId === null || (await prisma.account.count({ where: { id: accountId } })) > 0;

const lockSends = ({ sql }: Connection, recipientKeys: readonly string[], accountId: string | null) =>
  sql.query<{ id: string; account_id: string; recipient: string; is_open: boolean }[]>`
  with found as materialized (
    select s.id from ${sendsTo(recipientKeys, accountId)}
  )
  -- Every statement locks sends in the order of their ids.
  select s.* from (select id from found order by id) f cross join lateral (
    select id, account_id, recipient, verification = 'pending' and expires_at > clock_timestamp() as is_open
    from sends where id = f.id for no key update
  ) s`;

/**
 * Makes the codes of locked sends expire now. A send without a call in progress is due now, so that `postponeOrFail` fails it. Erases the
 * encrypted code if the provider has accepted the message.
 */
async function endCodes({ sql }: Connection, ids: readonly string[]): Promise<void> {
  await sql.execute`
    update sends set version = version + 1, expires_at = date_trunc('milliseconds', clock_timestamp()),
      phase = case phase when 'unconfirmed' then 'done' else phase end,
      encrypted_code = case when phase <> 'unconfirmed' then encrypted_code end,
      due_at = case when phase in ('ready', 'waiting', 'backing_off', 'giving_up') then date_trunc('milliseconds', clock_timestamp()) else due_at end
    where id = any(${[...ids]}::uuid[])`;
}
