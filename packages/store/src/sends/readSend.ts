import { type Send, SLOT_WAIT_MS_MAX } from '@onecode/domain';
import {
  byOrdinal,
  createBatcher,
  oncePerClient,
  READ_BATCHING,
  type WithOrdinal,
} from '../client/batcher.js';
import { type Database, pointReads } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { sendColumns, sendOf, type SendRow } from './sendRow.js';

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

/** A row of a send with a slot of a sender: all null when the send may not go out now, or no sender has one. */
export type RoutedRow = ReadRow & {
  slot_sender_id: string | null;
  slot_sender_number: string | null;
  slot_wait_ms: number | null;
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

/**
 * The row of a send that wants to go out, and a slot for it, or undefined when there is no such send. A slot is taken for whatever is
 * due, while its code is of use, as far as no hold keeps it back; nobody gives one back. What else may keep a send from going is rare and
 * its last time, so that it wastes no more than one.
 */
export function readRoutedSend(database: Database, id: string): Promise<RoutedRow | undefined> {
  return routedSendReader(database)(id);
}

const sendReader = oncePerClient((database: Database) =>
  createBatcher(
    async (wants: WhichSend[]) => {
      const rows = await pointReads(database).$queryRaw<WithOrdinal<ReadRow>[]>`
        select w.ordinal, ${sendColumns('s')}, clock_timestamp() as now
        from unnest(
          ${wants.map(({ id }) => id)}::uuid[], ${wants.map(({ accountId }) => accountId ?? null)}::uuid[]
        ) with ordinality as w (id, account_id, ordinal)
        cross join lateral (
          -- One probe for each want: a join might read all sends, if it was planned while there were few.
          select * from sends where id = w.id and account_id = coalesce(w.account_id, account_id) limit 1
        ) s`;
      return byOrdinal(wants, rows);
    },
    { batchSizeMax: READS_MAX, ...READ_BATCHING },
  ),
);

const reportedSendReader = oncePerClient((database: Database) =>
  createBatcher(
    async (wants: WhichReport[]) => {
      const rows = await pointReads(database).$queryRaw<WithOrdinal<ReportedRow>[]>`
        select w.ordinal, ${sendColumns('s')}, clock_timestamp() as now,
          a.id as reported_id, a.sender_id as reported_sender_id, a.outcome as reported_outcome,
          exists (
            select from attempts o where o.send_id = s.id and o.id <> a.id and o.outcome = 'accepted'
          ) as other_is_accepted,
          (select o.started_at from attempts o where o.id = s.attempt_id and o.id <> a.id) as other_claimed_at
        from unnest(
          ${wants.map(({ attemptId }) => attemptId)}::uuid[], ${wants.map(({ messageId }) => messageId)}::text[]
        ) with ordinality as w (attempt_id, message_id, ordinal)
        cross join lateral (
          select * from attempts where id = coalesce(
            (select id from attempts where id = w.attempt_id),
            (select id from attempts where message_id = w.message_id order by started_at limit 1)
          ) limit 1
        ) a
        cross join lateral (select * from sends where id = a.send_id limit 1) s`;
      return byOrdinal(wants, rows);
    },
    { batchSizeMax: READS_MAX, ...READ_BATCHING },
  ),
);

/** Slots of one call at the most: the senders' slots are locked while it lasts. */
const SLOTS_MAX = 100;

const routedSendReader = oncePerClient((database: Database) =>
  createBatcher(
    async (ids: string[]) => {
      const going = (column: string): Prisma.Sql =>
        Prisma.raw(`array(select ${column} from going order by position)`);
      const rows = await database.$queryRaw<WithOrdinal<RoutedRow>[]>`
        with wanted as materialized (
          select w.ordinal, ${sendColumns('s')}, date_trunc('milliseconds', clock_timestamp()) as now,
            s.canonical_recipient
          from unnest(${ids}::uuid[]) with ordinality as w (id, ordinal)
          cross join lateral (select * from sends where id = w.id limit 1) s
        ), going as materialized (
          select ordinal, account_id, canonical_recipient, country, row_number() over (order by ordinal) as position from wanted
          where mode = 'live' and status in ('queued', 'sending') and due_at <= now and now < expires_at
            and verification = 'pending'
        ), slots as materialized (
          select going.ordinal, t.sender_id, t.wait_ms
          from take_send_slots(
            ${going('account_id')}, ${going('canonical_recipient')}, ${going('country')}, ${SLOT_WAIT_MS_MAX}::integer
          ) t join going on going.position = t.ordinal
        )
        select wanted.*, slots.sender_id as slot_sender_id, slots.wait_ms as slot_wait_ms,
          (select number from senders where id = slots.sender_id) as slot_sender_number
        from wanted left join slots using (ordinal)`;
      return byOrdinal(ids, rows);
    },
    { batchSizeMax: SLOTS_MAX },
  ),
);

/** A send of this account with the database's clock, or null when the account has no such send. */
export async function findSend(
  database: Database,
  accountId: string,
  id: string,
): Promise<{ send: Send; now: Date } | null> {
  const row = await readSend(database, { id, accountId });
  return row === undefined ? null : { send: sendOf(row), now: row.now };
}
