import type { Receipt, ReportedAttempt, Send } from '@onecode/domain';
import { byOrdinal, createLookUp, type WithOrdinal } from '../client/batcher.js';
import type { Database } from '../client/database.js';
import { sendColumns, sendOf, type SendRow } from './sendRow.js';

/** Which send to read: the one with this id, and with `accountId` only if it is that account's. */
export interface WhichSend {
  id: string;
  accountId?: string;
}

/** What a receipt names: our attempt, if the provider returned it, and the provider's message id. */
export type WhichReport = Pick<Receipt, 'attempt' | 'messageId'>;

/** A row, with the database's clock when it was read. */
export type ReadRow = SendRow & { now: Date };

/** The row of a send that a receipt reports on, with the attempt and what is known of the others. */
export type ReportedRow = ReadRow & ReportedAttempt & { acceptedNumbers: number[]; isPriced: boolean };

/** The send's row, or undefined when there is no such send. Reads that arrive during another share the next round trip. */
export const readSend = createLookUp<WhichSend, ReadRow>(
  (database, requests) => database.sql.read`
    select r.ordinal, ${sendColumns('s')}, clock_timestamp() as now
    from unnest(
      ${requests.map(({ id }) => id)}::uuid[], ${requests.map(({ accountId }) => accountId ?? null)}::uuid[]
    ) with ordinality as r (id, account_id, ordinal)
    cross join lateral (
      -- One probe for each request: a join that was planned while there were few sends might read all of them.
      select * from sends where id = r.id and account_id = coalesce(r.account_id, account_id) limit 1
    ) s`,
);

/**
 * Reads the sends and attempts that receipts report on, all as they are at one time. A receipt reports on the attempt that it names, ended or
 * under way, unless that attempt has another message; otherwise on the attempt with its message, of the send that it names if it names one:
 * an account's own app may name only sends of its account, and must not report on others.
 *
 * @returns the row of each receipt, or undefined when no attempt matches
 */
export async function readReportedSends(
  database: Database,
  receipts: readonly WhichReport[],
): Promise<(ReportedRow | undefined)[]> {
  const rows = await database.sql.read<WithOrdinal<ReportedRow>[]>`
    select r.ordinal, ${sendColumns('s')}, clock_timestamp() as now, s.pricing is not null as "isPriced", a.number,
      a.sender_id as "senderId", (select phone_number_id from senders where id = a.sender_id) as "phoneNumberId",
      a.started_at as "startedAt", a.outcome, s.recipient_key as "recipientKey", array(
        select o.number from attempts o where o.send_id = s.id and o.outcome = 'accepted'
      )::integer[] as "acceptedNumbers"
    from unnest(
      ${receipts.map(({ attempt }) => attempt?.sendId ?? null)}::uuid[],
      ${receipts.map(({ attempt }) => attempt?.number ?? null)}::smallint[],
      ${receipts.map(({ messageId }) => messageId)}::text[]
    ) with ordinality as r (send_id, attempt, message_id, ordinal)
    cross join lateral (
      select send_id, number, sender_id, started_at, outcome from attempts
      where send_id = r.send_id and number = r.attempt and coalesce(message_id = r.message_id, true)
      union all
      select id, attempt_number, sender_id, claimed_at, null from sends
      where id = r.send_id and attempt_number = r.attempt and claimed_at is not null
        and not exists (select from attempts where send_id = r.send_id and number = r.attempt)
      union all (
        select send_id, number, sender_id, started_at, outcome from attempts
        where message_id = r.message_id and send_id = coalesce((select id from sends where id = r.send_id), send_id)
        order by started_at limit 1
      ) limit 1
    ) a
    cross join lateral (select * from sends where id = a.send_id limit 1) s`;
  return byOrdinal(receipts, rows);
}

/** A send of this account with the database's clock, or null when the account has no such send. */
export async function findSend(
  database: Database,
  accountId: string,
  id: string,
): Promise<{ send: Send; now: Date } | null> {
  const row = await readSend(database, { id, accountId });
  return row === undefined ? null : { send: sendOf(row), now: row.now };
}

/** How many attempts of a send ended with the provider's code so far, where the message might have been tried again. */
export async function countAttemptsWith(
  { sql }: Database,
  sendId: string,
  errorCode: number | null,
): Promise<number> {
  const [row] = await sql.query<[{ count: number }]>`
    select count(*)::integer as count from attempts
    where send_id = ${sendId}::uuid and outcome = 'retry' and error_code = ${errorCode}::integer`;
  return row.count;
}
