import { type Send, SLOT_WAIT_MS_MAX } from '@onecode/domain';
import {
  byOrdinal,
  createBatcher,
  oncePerClient,
  OVERLAPPING_BATCHES,
  type WithOrdinal,
} from '../client/batcher.js';
import type { Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { sendColumns, sendOf, type SendRow } from './sendRow.js';

/** Which send to read: the one with this id, and with `accountId` only if it is that account's. */
export interface WhichSend {
  id: string;
  accountId?: string;
}

/** What a receipt names: our attempt id, if the provider returned it, and the provider's message id. */
export interface WhichReport {
  attemptId: string | null;
  messageId: string;
}

/** A row, with the database's clock when it was read. */
export type ReadRow = SendRow & { now: Date };

/** The row of a send that a receipt reports on, with what is known of its attempts. */
export type ReportedRow = ReadRow & {
  reported_id: string;
  reported_sender_id: string | null;
  reported_started_at: Date;
  reported_outcome: string | null;
  other_is_accepted: boolean;
  other_claimed_at: Date | null;
};

/** The row of a send with its send slot: all null when the send may not go out now, or no sender has a slot. */
export type RoutedRow = ReadRow & {
  slot_sender_id: string | null;
  slot_sender_number: string | null;
  slot_wait_ms: number | null;
};

/** Reads in one batch. */
const READS_MAX = 200;

/** The send's row, or undefined when there is no such send. Reads that arrive during another share the next round trip. */
export function readSend(database: Database, which: WhichSend): Promise<ReadRow | undefined> {
  return sendReader(database)(which);
}

/** The row of the send whose attempt a receipt names, or undefined when no attempt of ours matches. */
export function readReportedSend(database: Database, which: WhichReport): Promise<ReportedRow | undefined> {
  return reportedSendReader(database)(which);
}

/**
 * The row of a send that may go out, with a send slot, or undefined when there is no such send. A due send whose code is still of use
 * takes a slot unless a hold matches it, and nobody gives a slot back: whatever else stops a send is rare and ends its delivery, so that
 * a send wastes one slot at the most.
 */
export function readRoutedSend(database: Database, id: string): Promise<RoutedRow | undefined> {
  return routedSendReader(database)(id);
}

const sendReader = oncePerClient((database: Database) =>
  createBatcher(
    async (requests: WhichSend[]) => {
      const rows = await database.reads.query<WithOrdinal<ReadRow>[]>`
        select r.ordinal, ${sendColumns('s')}, clock_timestamp() as now
        from unnest(
          ${requests.map(({ id }) => id)}::uuid[], ${requests.map(({ accountId }) => accountId ?? null)}::uuid[]
        ) with ordinality as r (id, account_id, ordinal)
        cross join lateral (
          -- One probe for each request: a join that was planned while there were few sends might read all of them.
          select * from sends where id = r.id and account_id = coalesce(r.account_id, account_id) limit 1
        ) s`;
      return byOrdinal(requests, rows);
    },
    { batchSizeMax: READS_MAX, ...OVERLAPPING_BATCHES },
  ),
);

const reportedSendReader = oncePerClient((database: Database) =>
  createBatcher(
    async (requests: WhichReport[]) => {
      const rows = await database.reads.query<WithOrdinal<ReportedRow>[]>`
        select r.ordinal, ${sendColumns('s')}, clock_timestamp() as now,
          a.id as reported_id, a.sender_id as reported_sender_id, a.started_at as reported_started_at,
          a.outcome as reported_outcome,
          exists (
            select from attempts o where o.send_id = s.id and o.id <> a.id and o.outcome = 'accepted'
          ) as other_is_accepted,
          (select o.started_at from attempts o where o.id = s.attempt_id and o.id <> a.id) as other_claimed_at
        from unnest(
          ${requests.map(({ attemptId }) => attemptId)}::uuid[], ${requests.map(({ messageId }) => messageId)}::text[]
        ) with ordinality as r (attempt_id, message_id, ordinal)
        cross join lateral (
          select * from attempts where id = coalesce(
            (select id from attempts where id = r.attempt_id),
            (select id from attempts where message_id = r.message_id order by started_at limit 1)
          ) limit 1
        ) a
        cross join lateral (select * from sends where id = a.send_id limit 1) s`;
      return byOrdinal(requests, rows);
    },
    { batchSizeMax: READS_MAX, ...OVERLAPPING_BATCHES },
  ),
);

/** Sends in one batch: the senders' slots are locked while it lasts. */
const SLOTS_MAX = 100;

const routedSendReader = oncePerClient((database: Database) =>
  createBatcher(
    async (ids: string[]) => {
      const slots = (isPromised: boolean, horizonMs: Prisma.Sql): Prisma.Sql => {
        const routable = (column: string): Prisma.Sql =>
          Prisma.raw(
            `array(select ${column} from routable where is_promised = ${isPromised} order by position)`,
          );
        return Prisma.sql`
          select routable.ordinal, t.sender_id, t.wait_ms
          from take_send_slots(
            ${routable('account_id')}, ${routable('canonical_recipient')}, ${routable('country')}, ${routable('locale')}, ${horizonMs}, false
          ) t join routable on routable.is_promised = ${isPromised} and routable.position = t.ordinal`;
      };
      const rows = await database.sql.query<WithOrdinal<RoutedRow>[]>`
        with requested as materialized (
          select r.ordinal, ${sendColumns('s')}, date_trunc('milliseconds', clock_timestamp()) as now,
            s.canonical_recipient, coalesce(s.promised_until > clock_timestamp(), false) as is_promised
          from unnest(${ids}::uuid[]) with ordinality as r (id, ordinal)
          cross join lateral (select * from sends where id = r.id limit 1) s
        ), routable as materialized (
          select ordinal, account_id, canonical_recipient, country, locale, is_promised,
            row_number() over (partition by is_promised order by ordinal) as position
          from requested
          where mode = 'live' and (status in ('queued', 'sending') or lost_at is not null) and due_at <= now and now < expires_at
            and verification = 'pending' and (is_promised or not (select slots_are_taken()))
        ), slots as materialized (
          ${slots(true, Prisma.sql`${SLOT_WAIT_MS_MAX}::integer`)} union all ${slots(false, Prisma.sql`direct_slot_wait_ms()`)}
        )
        select requested.*, slots.sender_id as slot_sender_id, slots.wait_ms as slot_wait_ms,
          (select number from senders where id = slots.sender_id) as slot_sender_number
        from requested left join slots using (ordinal)`;
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
