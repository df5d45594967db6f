import {
  NO_COUNTRY,
  type foldReceipts,
  type Receipt,
  type ReportedAttempt,
  type Send,
} from '@onecode/domain';
import { createBatcher, oncePerClient, OVERLAPPING_BATCHES_MAX } from '../client/batcher.js';
import type { Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import type { StoredReport } from './providerReports.js';
import { readReportedSends } from './readSend.js';
import { toSend } from './sendRow.js';
import { isFailure, updateSends, type Change } from './updateSends.js';

/** The payer in `message_costs` of messages from senders without an account. */
export const OPERATOR = '00000000-0000-0000-0000-000000000000';

type StoredReceipt = StoredReport<Receipt>;

/** A send as it was read, with the stored receipts that report on it. */
export interface ReportedSend {
  send: Send;
  version: number;
  /** The database's time. */
  now: Date;
  /** The numbers of the attempts that the provider accepted. */
  acceptedNumbers: number[];
  /** Whether its cost is already counted. */
  isPriced: boolean;
  receipts: { key: string; tries: number; receipt: Receipt; attempt: ReportedAttempt }[];
}

/** Reads the sends that receipts report on, each once. @returns the sends, and the receipts of unknown messages */
export async function findReportedSends(
  database: Database,
  receipts: readonly StoredReceipt[],
): Promise<{ sends: ReportedSend[]; unmatched: StoredReceipt[] }> {
  const messages = new Map(receipts.map(({ report }) => [messageKey(report), report]));
  const rows = messages.size === 0 ? [] : await readReportedSends(database, [...messages.values()]);
  const rowsByMessage = new Map([...messages.keys()].map((name, index) => [name, rows[index]]));
  const sends = new Map<string, ReportedSend>();
  const unmatched: StoredReceipt[] = [];
  for (const stored of receipts) {
    const row = rowsByMessage.get(messageKey(stored.report));
    if (row === undefined) {
      unmatched.push(stored);
      continue;
    }
    const { version, now, acceptedNumbers, isPriced } = row;
    const known = sends.get(row.id) ?? {
      send: toSend(row),
      version,
      now,
      acceptedNumbers,
      isPriced,
      receipts: [],
    };
    const { key, tries, report: receipt } = stored;
    const { number, senderId, phoneNumberId, startedAt, outcome, messageStatus, recipientKey } = row;
    // Only these fields: the attempt is copied for each receipt.
    const attempt = { number, senderId, phoneNumberId, startedAt, outcome, messageStatus, recipientKey };
    known.receipts.push({ key, tries, receipt, attempt });
    sends.set(row.id, known);
  }
  return { sends: [...sends.values()], unmatched };
}

/** Returns the same name for receipts of the same message. */
const messageKey = ({ attempt, messageId }: Receipt): string =>
  `${attempt?.sendId}.${attempt?.number} ${messageId}`;

/** A write for one send: the change by its receipts, if any, and the keys of the receipts to delete. */
interface Write {
  sendId: string;
  change: Change | null;
  keys: string[];
}

/**
 * Writes the decision about a send's receipts if the row still has its version, and deletes the receipts in the same statement. Concurrent
 * writes share round trips.
 *
 * @returns the written send, with the keys of the receipts that this call deleted; null if the row has changed since it was read, in which
 * case all receipts are still stored
 */
export async function writeReceipts(
  database: Database,
  { send: before, version, now: at, receipts }: ReportedSend,
  { change: fields, attempts = [], cost }: ReturnType<typeof foldReceipts>,
): Promise<{ send: Send; deleted: Set<string> } | null> {
  const after = { ...before, ...fields };
  const isNothing = fields === undefined && attempts.length === 0 && cost === undefined;
  const change = isNothing ? null : { before, after, version, at, attempts, cost };
  const write = { sendId: before.id, change, keys: receipts.map(({ key }) => key) };
  const deleted =
    change !== null && isFailure(change)
      ? (await writeTogether(database, [write]))[0]
      : await getBatcher(database)(write);
  if (deleted === null || deleted === undefined) return null;
  if (change !== null) database.onDelivery(before, after);
  return { send: after, deleted: new Set(deleted) };
}

/** A batch locks the rows of its sends until it commits. */
const WRITES_MAX = 200;

const getBatcher = oncePerClient((database: Database) =>
  createBatcher((writes: Write[]) => writeTogether(database, writes), {
    batchSizeMax: WRITES_MAX,
    concurrentBatchesMax: OVERLAPPING_BATCHES_MAX,
  }),
);

/** The step that counts the costs of `changed`. */
const PRICED = Prisma.sql`
  priced as (
    insert into message_costs as m (day, country, category, type, billable, pricing_model, payer, messages, free_sends, credits)
    select (c.arrived_at at time zone 'UTC')::date, coalesce(c.country, ${NO_COUNTRY}), c.pricing ->> 'category', c.pricing ->> 'type',
      (c.pricing ->> 'billable')::boolean, c.pricing ->> 'model',
      case when s.account_id = c.account_id then c.account_id else ${OPERATOR}::uuid end, count(*),
      count(*) filter (where c.charged_from = 'free_quota'), count(*) filter (where c.charged_from = 'credit')
    from changed c left join senders s on s.id = c.priced_sender_id where c.pricing is not null
    -- All callers insert in the same order, so that two callers cannot deadlock.
    group by 1, 2, 3, 4, 5, 6, 7 order by 1, 2, 3, 4, 5, 6, 7
    on conflict (day, country, category, type, billable, pricing_model, payer) do update set
      messages = m.messages + excluded.messages, free_sends = m.free_sends + excluded.free_sends, credits = m.credits + excluded.credits
  )`;

/** Writes a batch. @returns the keys that each write deleted, or null if its send had changed */
async function writeTogether(database: Database, writes: readonly Write[]): Promise<(string[] | null)[]> {
  const firsts = new Map(writes.toReversed().map((write) => [write.sendId, write]));
  const tried = [...firsts.values()];
  const changes = tried.flatMap(({ change }) => change ?? []);
  const keys = tried.flatMap((write) =>
    write.keys.map((key) => ({ key, guard: write.change === null ? null : write.sendId })),
  );
  const [{ changed, deleted }] = await database.sql.query<[{ changed: string[]; deleted: string[] }]>`
    with ${updateSends(changes)}, ${PRICED}, deleted as (
      delete from provider_reports where key = any(array(
        select k.key from unnest(${keys.map(({ key }) => key)}::text[], ${keys.map(({ guard }) => guard)}::uuid[]) as k (key, guard)
        where k.guard is null or k.guard in (select id from changed)
      )) returning key
    )
    select array(select id from changed) as changed, array(select key from deleted) as deleted`;
  const written = new Set(changed);
  const gone = new Set(deleted);
  return writes.map((write) => {
    const isWritten =
      firsts.get(write.sendId) === write && (write.change === null || written.has(write.sendId));
    return isWritten ? write.keys.filter((key) => gone.has(key)) : null;
  });
}
