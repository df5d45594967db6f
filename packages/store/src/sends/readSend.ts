import type { AttemptOutcome, Receipt, ReportedAttempt, Send } from '@onecode/domain';
import { byOrdinal, createLookUp, type WithOrdinal } from '../client/batcher.js';
import type { Database } from '../client/database.js';
import { sendColumns, type SendRow } from './sendRow.js';

/** Identifies the send to read: by id and, if `accountId` is given, only in that account. */
export interface WhichSend {
  id: string;
  accountId?: string;
}

/** The identifiers in a receipt: our attempt, if the provider returned it, and the provider's message id. */
export type WhichReport = Pick<Receipt, 'attempt' | 'messageId'>;

/** The row of the send that a receipt reports on, with its attempt. `senderId` is that of the send. */
type ReportedRow = SendRow &
  Omit<ReportedAttempt, 'senderId'> & {
    attemptSenderId: string | null;
    outcomes: [number: number, AttemptOutcome][];
    isPriced: boolean;
  };

/** Returns a send's row, or undefined if the send does not exist. Reads that arrive during another read share the next round trip. */
export const readSend = createLookUp<WhichSend, SendRow>(
  (database, requests) => database.sql.read`
    select r.ordinal, ${sendColumns('s')}
    from unnest(
      ${requests.map(({ id }) => id)}::uuid[], ${requests.map(({ accountId }) => accountId ?? null)}::uuid[]
    ) with ordinality as r (id, account_id, ordinal)
    cross join lateral (
      -- One index probe per request: a join planned while there were few sends might scan the table.
      select * from sends where id = r.id and account_id = coalesce(r.account_id, account_id) limit 1
    ) s`,
);

/**
 * Reads the sends and attempts that receipts report on, in one snapshot. A receipt reports on the attempt that it names, ended or in
 * progress, unless that attempt has another message id. Otherwise it reports on the attempt with its message id; if the receipt names a
 * send, only within that send, because an account's own app must not report on other accounts' sends.
 *
 * @returns the row of each receipt, or undefined if no attempt matches
 */
export async function readReportedSends(
  database: Database,
  receipts: readonly WhichReport[],
): Promise<(ReportedRow | undefined)[]> {
  const rows = await database.sql.read<WithOrdinal<ReportedRow>[]>`
    select r.ordinal, ${sendColumns('s')}, s.pricing is not null as "isPriced", a.number,
      a.sender_id as "attemptSenderId", (select phone_number_id from senders where id = a.sender_id) as "phoneNumberId",
      a.started_at as "startedAt", a.outcome, a.message_status as "messageStatus", s.recipient_key as "recipientKey", (
        select coalesce(json_agg(json_build_array(o.number, o.outcome)), '[]') from attempts o where o.send_id = s.id
      ) as outcomes
    from unnest(
      ${receipts.map(({ attempt }) => attempt?.sendId ?? null)}::uuid[],
      ${receipts.map(({ attempt }) => attempt?.number ?? null)}::smallint[],
      ${receipts.map(({ messageId }) => messageId)}::text[]
    ) with ordinality as r (send_id, attempt, message_id, ordinal)
    cross join lateral (
      select send_id, number, sender_id, started_at, outcome, message_status from attempts
      where send_id = r.send_id and number = r.attempt and coalesce(message_id = r.message_id, true)
      union all
      select id, attempt_number, sender_id, claimed_at, null, null from sends
      where id = r.send_id and attempt_number = r.attempt and claimed_at is not null
        and not exists (select from attempts where send_id = r.send_id and number = r.attempt)
      union all (
        select send_id, number, sender_id, started_at, outcome, message_status from attempts
        where message_id = r.message_id and send_id = coalesce((select id from sends where id = r.send_id), send_id)
        order by started_at limit 1
      ) limit 1
    ) a
    cross join lateral (select * from sends where id = a.send_id limit 1) s`;
  return byOrdinal(receipts, rows);
}

/** Returns an account's send with the database's time, or null if the account has no such send. */
export async function findSend(
  database: Database,
  accountId: string,
  id: string,
): Promise<{ send: Send; now: Date } | null> {
  const row = await readSend(database, { id, accountId });
  return row === undefined ? null : { send: row, now: row.now };
}
