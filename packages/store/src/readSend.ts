import type { Database } from './database.js';
import { sendColumns, type SendRow } from './sendRow.js';
import { inOrder, perDatabase, shareCalls, type Placed } from './sharedCalls.js';

/** Which send to read: an id, and with `accountId` only when it is that account's. */
export interface WhichSend {
  id: string;
  accountId?: string;
}

/** What a receipt names: our own attempt id if it came back, and the provider's message id. */
export interface WhichReport {
  attemptId: string | null;
  messageId: string;
}

/** A row with the database's clock at its reading. */
export type ReadRow = SendRow & { now: Date };

/** The row of a send that a receipt reports on, and what is known of its attempts. */
export type ReportedRow = ReadRow & {
  reported_id: string;
  reported_sender_id: string | null;
  reported_outcome: string | null;
  other_is_accepted: boolean;
  other_claimed_at: Date | null;
};

/** Reads of one call at the most. */
const READS_MAX = 200;

/** The send's row, or undefined when there is no such send. Reads that come in during another share the next one. */
export function readSend(database: Database, which: WhichSend): Promise<ReadRow | undefined> {
  return sendReader(database)(which);
}

/** The row of the send whose attempt a receipt names, or undefined when no attempt of ours matches. */
export function readReportedSend(database: Database, which: WhichReport): Promise<ReportedRow | undefined> {
  return reportedSendReader(database)(which);
}

const sendReader = perDatabase((database: Database) =>
  shareCalls(
    async (wants: WhichSend[]) => {
      const rows = await database.$queryRaw<Placed<ReadRow>[]>`
        select w.place, ${sendColumns('s')}, clock_timestamp() as now
        from unnest(
          ${wants.map(({ id }) => id)}::uuid[], ${wants.map(({ accountId }) => accountId ?? null)}::uuid[]
        ) with ordinality as w (id, account_id, place)
        cross join lateral (
          -- One probe for each want: a join might read all sends, if it was planned while there were few.
          select * from sends where id = w.id and account_id = coalesce(w.account_id, account_id) limit 1
        ) s`;
      return inOrder(wants, rows);
    },
    { wantsMax: READS_MAX },
  ),
);

const reportedSendReader = perDatabase((database: Database) =>
  shareCalls(
    async (wants: WhichReport[]) => {
      const rows = await database.$queryRaw<Placed<ReportedRow>[]>`
        select w.place, ${sendColumns('s')}, clock_timestamp() as now,
          a.id as reported_id, a.sender_id as reported_sender_id, a.outcome as reported_outcome,
          exists (
            select from attempts o where o.send_id = s.id and o.id <> a.id and o.outcome = 'accepted'
          ) as other_is_accepted,
          (select o.started_at from attempts o where o.id = s.attempt_id and o.id <> a.id) as other_claimed_at
        from unnest(
          ${wants.map(({ attemptId }) => attemptId)}::uuid[], ${wants.map(({ messageId }) => messageId)}::text[]
        ) with ordinality as w (attempt_id, message_id, place)
        cross join lateral (
          select * from attempts where id = coalesce(
            (select id from attempts where id = w.attempt_id),
            (select id from attempts where message_id = w.message_id order by started_at limit 1)
          ) limit 1
        ) a
        cross join lateral (select * from sends where id = a.send_id limit 1) s`;
      return inOrder(wants, rows);
    },
    { wantsMax: READS_MAX },
  ),
);
