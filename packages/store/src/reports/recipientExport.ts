import { type Actor, audited } from '../operations/audit.js';
import type { Database } from '../client/database.js';
import { accountExists, ALL_SENDS_MS_MAX, sendsTo } from '../sends/recipients.js';

type Columns = Record<string, unknown>;

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
      if (!(await accountExists(connection, accountId))) return null;
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
        select jsonb_build_object('account_id', account_id, 'points', points, 'last_wrong_at', last_wrong_at) as budget
        from guess_budgets where account_id in (select id from accounts where ${accountId}::uuid is null or id = ${accountId}::uuid)
          and recipient_key = any(${[...recipientKeys]}::text[])
        order by last_wrong_at`;
      const details = { sends: sends.length };
      if (sends.length + budgets.length > 0)
        await log({ action: 'recipient.export', accountId, subject: accountId, details });
      return { sends: sends.map(({ send }) => send), guess_budgets: budgets.map(({ budget }) => budget) };
    },
    { timeout: ALL_SENDS_MS_MAX },
  );
}
