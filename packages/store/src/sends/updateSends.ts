import type { Changes, Decision, Send } from '@onecode/domain';
import { createBatcher, oncePerClient, OVERLAPPING_BATCHES_MAX } from '../client/batcher.js';
import type { Database } from '../client/database.js';
import { pauseAfterLostRace } from '../client/races.js';
import { Prisma } from '../generated/prisma/client.js';
import { assignments, findSend, RECORD_COLUMNS, toSendRecord, type SendRow } from './sendRow.js';

/** The change of a send, if any, and the deletion of its receipts, which one statement writes. */
interface Write extends Changes {
  /** The row from which the change was decided. */
  send: SendRow;
  after: Send;
  isChange: boolean;
  receipts: readonly string[];
}

/**
 * Returns a function that writes a decision about a send, and deletes the receipts with the given keys in the same statement. If the row
 * has changed since it was read, or another transaction has locked it, a change is not written, and the function returns null. Otherwise it
 * returns the written send, with the keys of the receipts that this call deleted. Concurrent writes share round trips.
 *
 * @param batchSizeMax a batch locks the rows of its sends until it commits
 */
function createWriter(batchSizeMax: number) {
  const getBatcher = oncePerClient((database: Database) =>
    createBatcher((writes: Write[]) => writeTogether(database, writes), {
      batchSizeMax,
      concurrentBatchesMax: OVERLAPPING_BATCHES_MAX,
    }),
  );
  return async (
    database: Database,
    send: SendRow,
    changes: Changes,
    receipts: readonly string[] = [],
  ): Promise<{ send: Send; deleted: ReadonlySet<string> } | null> => {
    const { change, attempts = [], pricing } = changes;
    const after = { ...send, ...change };
    const isChange = change !== undefined || attempts.length > 0 || pricing !== undefined;
    if (!isChange && receipts.length === 0) return { send, deleted: new Set() };
    const write = { ...changes, send, after, isChange, receipts };
    const [deleted = null] = isFailure(write)
      ? await writeTogether(database, [write])
      : [await getBatcher(database)(write)];
    if (deleted === null) return null;
    if (isChange) database.onDelivery(send, after);
    return { send: after, deleted };
  };
}

/** Outcomes have their own writer, so that they do not wait for a large batch of receipts. */
const writeOutcome = createWriter(100);

/** Writes the decision about a send's receipts, and deletes the receipts. If it returns null, this call deleted none. */
export const writeReceipts = createWriter(200);

/**
 * Changes a send with a pure rule: reads the row with the database's clock, calls `decide`, and writes the decision if the row still has
 * its version. If another transaction has changed or locked the row, it reads and decides again after a short pause. The same statement
 * writes the outcomes of attempts and the refund of a failure. Concurrent changes of different sends share round trips.
 *
 * @param which with a row, `now` must be the current time; the row is read again only if another process has changed it since
 * @returns the decision's result after the commit, or null if the send does not exist
 */
export async function changeSend<R>(
  database: Database,
  which: { id: string } | SendRow,
  decide: (send: Send, now: Date) => Decision<R>,
): Promise<R | null> {
  const { id } = which;
  let row = 'version' in which ? which : await findSend(database, { id });
  for (let lostRaces = 1; row !== undefined; lostRaces += 1) {
    const { result, ...changes } = decide(row, row.now);
    if ((await writeOutcome(database, row, changes)) !== null) return result;
    await pauseAfterLostRace(lostRaces);
    row = await findSend(database, { id });
  }
  return null;
}

/** Returns whether a write fails a send. Such a write has its own statement, see `refund`. */
const isFailure = ({ send, after }: Write): boolean => send.status !== 'failed' && after.status === 'failed';

/** Writes a batch. Of two changes of one send, only the first is tried. @returns the deleted receipts of each write; null if not written */
async function writeTogether(
  database: Database,
  writes: readonly Write[],
): Promise<(ReadonlySet<string> | null)[]> {
  // Keeps the first change of each send, and all writes that only delete receipts.
  const firsts = new Map(writes.toReversed().map((write) => [write.isChange ? write.send.id : write, write]));
  const tried = [...firsts.values()];
  const receipts = tried.flatMap(({ send, isChange, receipts: keys }) =>
    keys.map((key) => ({ key, sendId: isChange ? send.id : null })),
  );
  const [{ changed, deleted }] = await database.sql.query<[{ changed: string[]; deleted: string[] }]>`
    with ${updateSends(tried.filter(({ isChange }) => isChange))} ${receipts.length === 0 ? NO_RECEIPTS : deleteReceipts(receipts)}
    select array(select id from changed) as changed, array(select key from deleted) as deleted`;
  const written = new Set(changed);
  const gone = new Set(deleted);
  return writes.map((write) => {
    const { send, isChange } = write;
    if (isChange && (firsts.get(send.id) !== write || !written.has(send.id))) return null;
    // Two writes may name the same receipt: only one of them gets it.
    return new Set(write.receipts.filter((key) => gone.delete(key)));
  });
}

const toChangeRecord = ({ send, after, attempts = [], pricing }: Write): object => ({
  id: send.id,
  version: send.version,
  ...toSendRecord(after),
  pricing,
  attempt_records: attempts.map(({ report, ...attempt }) => ({
    ...attempt,
    reportedAt: report?.at,
    reportedCode: report?.errorCode,
    finishedAt: send.now,
  })),
});

/**
 * Returns the first steps of a statement that writes changes of different sends with their attempts, or one failure with its refund:
 * `changed` returns the sends that still had the version.
 */
function updateSends(changes: readonly Write[]): Prisma.Sql {
  const { lock, lockedIds } = lockUnchangedSends(changes.length);
  const failed = changes.find(isFailure);
  return Prisma.sql`
    changes as materialized (
      select * from json_to_recordset(${JSON.stringify(changes.map(toChangeRecord))}::json) as c (
        id uuid, version integer, ${RECORD_COLUMNS}, pricing jsonb, attempt_records json
      )
    ), ${lock} changed as (
      update sends s set ${assignments('c')}, pricing = coalesce(s.pricing, c.pricing), version = s.version + 1
      from changes c
      where s.id = any(array(${lockedIds})) and c.id = s.id and c.version = s.version
      returning s.id, s.account_id, s.country, s.charged_from, s.verification, s.sender_id, s.delivered_at, s.read_at,
        c.pricing, c.attempt_records
    ), ${ATTEMPTED} ${failed === undefined ? Prisma.empty : refund(failed.send)}`;
}

/**
 * The step that writes the attempts of `changed`. A response and receipts may report on the same attempt in any order. An acceptance and a
 * failed receipt replace the stored outcome; the failure of a call does not.
 */
const ATTEMPTED = Prisma.sql`
  attempted as (
    insert into attempts (
      send_id, number, sender_id, started_at, outcome, error_code, message_id, message_status, reported_at, reported_code, finished_at
    )
    select changed.id, a.*
    from changed, json_to_recordset(changed.attempt_records) as a (
      number smallint, "senderId" uuid, "startedAt" timestamptz, outcome text, "errorCode" integer, "messageId" text, "messageStatus" text,
      "reportedAt" timestamptz, "reportedCode" integer, "finishedAt" timestamptz
    )
    on conflict (send_id, number) do update set
      outcome = excluded.outcome, error_code = excluded.error_code, message_id = excluded.message_id,
      -- The call ended when it was accepted, even if its message fails later.
      finished_at = case when attempts.outcome = 'accepted' then attempts.finished_at else excluded.finished_at end,
      message_status = coalesce(excluded.message_status, attempts.message_status),
      reported_at = coalesce(attempts.reported_at, excluded.reported_at),
      reported_code = coalesce(attempts.reported_code, excluded.reported_code)
    where excluded.outcome = 'accepted' or excluded.reported_at is not null
  )`;

/**
 * Returns the steps that refund the unit of the failure in `changed`. The unit is not refunded if the code was verified and a message may
 * have arrived. Each failure has its own statement, because a refund also locks an account, and a batch would lock sends and accounts in
 * no fixed order.
 *
 * If the account is locked, the statement of a send without a call fails after 250 ms (`isLockTimeout`), because the loop `deliver` waits for
 * it. The send stays due.
 */
const refund = ({ phase, dueAt }: Send): Prisma.Sql => Prisma.sql`,
  returned as (
    -- Precedes its ledger entry, so that the entry's id is assigned under the account's lock and ids follow the order of changes.
    update accounts set
      free_quota = free_quota + (changed.charged_from = 'free_quota')::integer,
      credits = credits + (changed.charged_from = 'credit')::integer
    from changed where accounts.id = changed.account_id and changed.charged_from is not null
      and set_config('lock_timeout', ${dueAt !== null && phase !== 'calling' ? '250ms' : '0'}::text, true) is not null
      and not (changed.verification = 'verified' and may_have_arrived(changed.id))
    returning changed.account_id, changed.id, changed.charged_from
  ), refunded as (
    insert into ledger_entries (account_id, send_id, kind, bucket, units)
    select account_id, id, 'returned', charged_from, 1 from returned
  )`;

/** The payer in `message_costs` of messages from senders that do not belong to the account of the send. */
export const OPERATOR = '00000000-0000-0000-0000-000000000000';

const NO_RECEIPTS = Prisma.sql`, deleted as (select null as key where false)`;

/** Returns the steps that count the prices of `changed`, and delete the receipts of written changes and of sends without a change. */
const deleteReceipts = (
  receipts: readonly { key: string; sendId: string | null }[],
): Prisma.Sql => Prisma.sql`,
  priced as (
    insert into message_costs as m (day, country, category, type, billable, pricing_model, payer, messages, free_sends, credits)
    select (coalesce(c.delivered_at, c.read_at) at time zone 'UTC')::date, c.country,
      c.pricing ->> 'category', c.pricing ->> 'type', (c.pricing ->> 'billable')::boolean, c.pricing ->> 'model',
      case when s.account_id = c.account_id then c.account_id else ${OPERATOR}::uuid end, count(*),
      count(*) filter (where c.charged_from = 'free_quota'), count(*) filter (where c.charged_from = 'credit')
    from changed c left join senders s on s.id = c.sender_id where c.pricing is not null
    -- All callers insert in the same order, so that two callers cannot deadlock.
    group by 1, 2, 3, 4, 5, 6, 7 order by 1, 2, 3, 4, 5, 6, 7
    on conflict (day, country, category, type, billable, pricing_model, payer) do update set
      messages = m.messages + excluded.messages, free_sends = m.free_sends + excluded.free_sends, credits = m.credits + excluded.credits
  ), deleted as (
    delete from provider_reports where key = any(array(
      select k.key from unnest(
        ${receipts.map(({ key }) => key)}::text[], ${receipts.map(({ sendId }) => sendId)}::uuid[]
      ) as k (key, send_id)
      where k.send_id is null or k.send_id in (select id from changed)
    )) returning key
  )`;

/**
 * Returns the step that locks the sends of the step `changes`, if they still have the version in the change, and the query of the locked
 * ids. It skips a send that another transaction has locked, so that the rest of the batch does not wait: the other transaction most likely
 * changes the version. A single send needs no such step: its update waits for the lock.
 */
export function lockUnchangedSends(count: number): { lock: Prisma.Sql; lockedIds: Prisma.Sql } {
  return count === 1 ? { lock: Prisma.empty, lockedIds: ONLY_ID } : { lock: LOCKED, lockedIds: LOCKED_IDS };
}

const LOCKED = Prisma.sql`
  locked as materialized (
    select s.id from changes c
    cross join lateral (select id from sends where id = c.id and version = c.version for no key update skip locked) s
  ),`;
const ONLY_ID = Prisma.sql`select id from changes`;
const LOCKED_IDS = Prisma.sql`select id from locked`;
