import type { AttemptChange, AttemptOutcome, Decision, ReportedAttempt, Send } from '@onecode/domain';
import type { Database } from './database.js';
import { sendColumns, sendOf, type SendRow } from './sendRow.js';

/** More rounds than this means that something writes one row without end. */
const ROUNDS_MAX = 1000;

/** Which send to change: an id, and with `accountId` only when it is that account's. */
export interface WhichSend {
  id: string;
  accountId?: string;
}

/**
 * The one door for every change of a send after its creation. Reads the row with the database's clock, asks the pure `decide`
 * what should happen, and writes it guarded by the row's version; when somebody else was faster, it reads and decides again.
 * A failure's refund, the attempts' outcomes and the recipient's count of wrong codes are in the same statement as the change.
 *
 * @returns the decision's result once it is committed, or null when there is no such send
 */
export async function changeSend<R, P = never>(
  database: Database,
  which: WhichSend,
  decide: (send: Send, now: Date, prepared?: P) => Decision<R>,
  prepare?: (send: Send, now: Date) => Promise<P> | undefined,
): Promise<R | null> {
  let prepared: P | undefined;
  return repeatUntilWritten(
    database,
    () => readSend(database, which),
    (send, now) => decide(send, now, prepared),
    async (send, now) => {
      if (prepared === undefined) prepared = await prepare?.(send, now);
    },
  );
}

/** What a receipt names: our own attempt id if it came back, and the provider's message id. */
export interface WhichReport {
  attemptId: string | null;
  messageId: string;
}

/** `changeSend` for the send whose attempt a receipt reports on. @returns null when no attempt of ours matches. */
export async function changeReportedSend<R>(
  database: Database,
  which: WhichReport,
  decide: (send: Send, now: Date, attempt: ReportedAttempt) => Decision<R>,
): Promise<R | null> {
  return repeatUntilWritten(
    database,
    () => readReportedSend(database, which),
    (send, now, row) =>
      decide(send, now, {
        id: row.reported_id,
        senderId: row.reported_sender_id,
        outcome: row.reported_outcome as AttemptOutcome | null,
        otherIsAccepted: row.other_is_accepted,
        otherClaimedAt: row.other_claimed_at,
      }),
  );
}

type ReadRow = SendRow & { now: Date };
type ReportedRow = ReadRow & {
  reported_id: string;
  reported_sender_id: string | null;
  reported_outcome: string | null;
  other_is_accepted: boolean;
  other_claimed_at: Date | null;
};

async function repeatUntilWritten<Row extends ReadRow, R>(
  database: Database,
  read: () => Promise<Row[]>,
  decide: (send: Send, now: Date, row: Row) => Decision<R>,
  prepare?: (send: Send, now: Date) => Promise<void>,
): Promise<R | null> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const [row] = await read();
    if (row === undefined) return null;
    const send = sendOf(row);
    await prepare?.(send, row.now);
    const decision = decide(send, row.now, row);
    const nothing = decision.change === undefined && (decision.attempts ?? []).length === 0;
    if (nothing || (await write(database, send, row.version, decision))) return decision.result;
  }
  throw new Error('a send changed under every one of many attempts to change it');
}

async function readSend(database: Database, which: WhichSend): Promise<ReadRow[]> {
  return which.accountId === undefined
    ? database.$queryRaw`select ${sendColumns('s')}, clock_timestamp() as now from sends s where id = ${which.id}::uuid`
    : database.$queryRaw`select ${sendColumns('s')}, clock_timestamp() as now from sends s
        where id = ${which.id}::uuid and account_id = ${which.accountId}::uuid`;
}

async function readReportedSend(database: Database, which: WhichReport): Promise<ReportedRow[]> {
  return database.$queryRaw`
    select ${sendColumns('s')}, clock_timestamp() as now,
      a.id as reported_id, a.sender_id as reported_sender_id, a.outcome as reported_outcome,
      exists (
        select from attempts o where o.send_id = s.id and o.id <> a.id and o.outcome = 'accepted'
      ) as other_is_accepted,
      (select o.started_at from attempts o where o.id = s.attempt_id and o.id <> a.id) as other_claimed_at
    from attempts a join sends s on s.id = a.send_id
    where a.id = coalesce(
      (select id from attempts where id = ${which.attemptId}::uuid),
      (select id from attempts where message_id = ${which.messageId} order by started_at limit 1)
    )`;
}

/** Writes a decision if the row still has the version that was decided on. */
async function write(
  database: Database,
  before: Send,
  version: number,
  decision: Decision<unknown>,
): Promise<boolean> {
  const after: Send = { ...before, ...decision.change };
  const fails = before.status !== 'failed' && after.status === 'failed';
  const guessedWrong = after.wrongGuesses > before.wrongGuesses;
  const guessedRight = before.verification !== 'verified' && after.verification === 'verified';
  const attempts = JSON.stringify((decision.attempts ?? []).map(attemptRecord));
  const [result] = await database.$queryRaw<[{ written: number }]>`
    with changed as (
      update sends set
        status = ${after.status}, verification = ${after.verification}, wrong_guesses = ${after.wrongGuesses}::smallint,
        channel = ${after.channel}, from_number = ${after.from}, sender_id = ${after.senderId}::uuid,
        code_box = ${after.codeBox}::bytea, attempts = ${after.attempts}::smallint, attempt_id = ${after.attemptId}::uuid,
        receipt_until = ${after.receiptUntil}::timestamptz, awaiting_sender = ${after.awaitingSender},
        due_at = ${after.dueAt}::timestamptz, ring_at = ${after.dueAt}::timestamptz + interval '1 second',
        sent_at = ${after.sentAt}::timestamptz, delivered_at = ${after.deliveredAt}::timestamptz,
        read_at = ${after.readAt}::timestamptz, verified_at = ${after.verifiedAt}::timestamptz,
        failed_at = ${after.failedAt}::timestamptz, failure_reason = ${after.failureReason},
        version = version + 1
      where id = ${before.id}::uuid and version = ${version}
      returning id, account_id, mode, recipient, unit
    ), calls as (
      insert into attempts (id, send_id, sender_id, outcome, error_code, message_id, finished_at)
      select a.id, changed.id, a.sender_id, a.outcome, a.error_code, a.message_id,
        case when a.outcome is not null then clock_timestamp() end
      from changed, jsonb_to_recordset(${attempts}::jsonb)
        as a (id uuid, sender_id uuid, outcome text, error_code integer, message_id text)
      on conflict (id) do update set
        outcome = excluded.outcome, error_code = excluded.error_code, finished_at = excluded.finished_at,
        message_id = coalesce(excluded.message_id, attempts.message_id)
    ), refund as (
      insert into ledger_entries (account_id, send_id, kind, bucket, units)
      select account_id, id, 'returned', unit, 1 from changed where ${fails} and unit is not null
      returning account_id, bucket
    ), returned as (
      update accounts set
        free_quota = free_quota + (refund.bucket = 'free_quota')::integer,
        credits = credits + (refund.bucket = 'credit')::integer
      from refund where accounts.id = refund.account_id
    ), counted as (
      -- Each change locks its send and then one count, so guesses at many sends of one recipient wait in a line and never in a ring.
      insert into guess_budgets as b (account_id, mode, recipient, wrong_in_a_row, last_wrong_at)
      select account_id, mode, recipient, 1, clock_timestamp() from changed where ${guessedWrong}
      on conflict (account_id, mode, recipient) do update
        set wrong_in_a_row = b.wrong_in_a_row + 1, last_wrong_at = excluded.last_wrong_at
    ), forgiven as (
      delete from guess_budgets b using changed c
      where ${guessedRight} and b.account_id = c.account_id and b.mode = c.mode and b.recipient = c.recipient
    )
    select count(*)::integer as written from changed`;
  return result.written === 1;
}

function attemptRecord(attempt: AttemptChange): object {
  return {
    id: attempt.id,
    sender_id: attempt.senderId,
    outcome: attempt.outcome,
    error_code: attempt.errorCode,
    message_id: attempt.messageId,
  };
}
