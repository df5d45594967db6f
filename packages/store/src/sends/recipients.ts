import { isMasked } from '@onecode/domain';
import { type Actor, audited } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { replaceNumbers } from './retention.js';

/** Milliseconds. A phone number that a customer uses to test its sign-in can have tens of thousands of sends. */
const ALL_SENDS_MS_MAX = 60_000;
/** The most sends that one statement masks, so that it ends before the statement time-out. */
const PAGE = 1_000;

type Columns = Record<string, unknown>;

/** SQL for the sends `s` to a recipient, of one account or of all, through the index by recipient. */
const sendsTo = (recipientKeys: readonly string[], accountId: string | null): Prisma.Sql => Prisma.sql`
  accounts a cross join unnest(array['test', 'live']) m (mode) cross join unnest(${[...recipientKeys]}::text[]) k (recipient_key)
  cross join lateral (
    select * from sends where account_id = a.id and mode = m.mode and recipient_key = k.recipient_key order by created_at
  ) s
  where ${accountId}::uuid is null or a.id = ${accountId}::uuid`;

/**
 * Returns all stored data about a recipient, for the owner of the number. The audit log records the export, without the number.
 *
 * @param recipientKeys all keys of the recipient
 * @param accountId null for all accounts
 * @returns the sends, each with its `attempts` and `identity`, oldest first, and the guess budgets, by column name with times as
 * RFC 3339; null if the account does not exist
 */
export async function exportRecipient(
  database: Database,
  actor: Actor,
  recipientKeys: readonly string[],
  accountId: string | null,
): Promise<{ sends: Columns[]; guess_budgets: Columns[] } | null> {
  return audited(
    database,
    actor,
    async (connection, log) => {
      if (!(await exists(connection, accountId))) return null;
      const { sql } = connection;
      const sends = await sql.query<{ send: Columns }[]>`
        select jsonb_build_object('id', s.id, 'account_id', s.account_id, 'account_name', a.name, 'application_id', s.application_id,
          'mode', s.mode, 'recipient', s.recipient, 'country', s.country, 'locale', s.locale, 'channel', s.channel, 'from', s.from_number,
          'status', s.status, 'verification',
          case when s.verification = 'pending' and s.expires_at <= statement_timestamp() then 'expired' else s.verification end,
          'created_at', s.created_at, 'expires_at', s.expires_at, 'sent_at', s.sent_at, 'delivered_at', s.delivered_at, 'read_at', s.read_at,
          'verified_at', s.verified_at, 'locked_at', s.locked_at, 'failed_at', s.failed_at, 'failure_reason', s.failure_reason,
          'wrong_codes_at', coalesce(s.wrong_guess_times, '{}'), 'denied_at', s.denied_at, 'attempts', (
            select coalesce(jsonb_agg(jsonb_build_object('number', number, 'outcome', outcome, 'error_code', error_code, 'message_status', message_status, 'started_at', started_at,
              'finished_at', finished_at) order by number), '[]') from attempts where send_id = s.id
          ), 'identity', (
            select jsonb_build_object('hash', identity_hash, 'has_changed', has_changed, 'seen_at', seen_at) from send_identities where send_id = s.id
          )) as send
        from ${sendsTo(recipientKeys, accountId)} order by s.created_at, s.id`;
      const budgets = await sql.query<{ budget: Columns }[]>`
        select jsonb_build_object('account_id', account_id, 'mode', mode, 'points', points, 'last_wrong_at', last_wrong_at) as budget
        from guess_budgets where account_id in (select id from accounts where ${accountId}::uuid is null or id = ${accountId}::uuid)
          and mode in ('test', 'live') and recipient_key = any(${[...recipientKeys]}::text[])
        order by last_wrong_at`;
      const details = { sends: sends.length };
      if (sends.length + budgets.length > 0)
        await log({ action: 'recipient.export', accountId, subject: accountId, details });
      return { sends: sends.map(({ send }) => send), guess_budgets: budgets.map(({ budget }) => budget) };
    },
    { timeout: ALL_SENDS_MS_MAX },
  );
}

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
      if (!(await exists(connection, accountId))) return null;
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

const exists = async ({ prisma }: Connection, accountId: string | null): Promise<boolean> =>
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
    update sends set version = version + 1,
      expires_at = greatest(date_trunc('milliseconds', clock_timestamp()), created_at + interval '1 millisecond'),
      phase = case phase when 'unconfirmed' then 'done' else phase end,
      encrypted_code = case when phase <> 'unconfirmed' then encrypted_code end,
      due_at = case when phase in ('ready', 'waiting', 'backing_off', 'giving_up') then date_trunc('milliseconds', clock_timestamp()) else due_at end
    where id = any(${[...ids]}::uuid[])`;
}
