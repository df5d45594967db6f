import { hash } from 'node:crypto';
import {
  OWN_FAILURES,
  type AttemptOutcome,
  type Denial,
  type ProviderChange,
  type Receipt,
  type ReportedAttempt,
} from '@onecode/domain';
import { byOrdinal, type WithOrdinal } from '../client/batcher.js';
import type { Connection, Database } from '../client/database.js';
import type { OwnApp } from '../senders/secrets.js';
import { returnTry, takeTry } from '../users/countedTries.js';
import { sendColumns, type SendRow } from './sendRow.js';

/** The reports of one webhook. */
export interface NewReports {
  receipts: readonly Receipt[];
  denials: readonly Denial[];
  changes: readonly ProviderChange[];
  /** The business accounts of numbers, by phone number id; missing from an account's own app, because they are read from Meta instead. */
  businessAccounts?: ReadonlyMap<string, string>;
}

/** A stored report that is not applied yet. */
export interface StoredReport<Report> {
  key: string;
  report: Report;
}

/** Returns the same key for receipts of the same attempt (or message, without an attempt) with the same status. */
const receiptKey = ({ attempt, messageId, status }: Receipt): string =>
  `${attempt === null ? messageId : `${attempt.sendId}.${attempt.number}`} ${status}`;

/**
 * Stores reports in one statement, for the worker to apply. Skips repeats of reports that are stored and not applied yet. Also stores the
 * business accounts of senders without a known one.
 *
 * @param accountId the owner of the Meta app that sent the reports; null for the operator's app
 * @returns how many are new
 */
export async function storeReports(
  database: Database,
  { receipts, denials, changes, businessAccounts = new Map() }: NewReports,
  accountId: string | null,
): Promise<number> {
  const records = [
    ...receipts.map((report) => ({ kind: 'receipt', key: receiptKey(report), report })),
    ...denials.map((report) => ({ kind: 'denial', key: `${report.messageId} denied`, report })),
    ...changes.map((report) => ({
      kind: 'change',
      key: hash('sha256', JSON.stringify(report), 'hex'),
      report,
    })),
  ];
  if (records.length === 0) return 0;
  return database.sql.execute`
    with unread as materialized (
      -- Concurrent posts lock the senders in the same order, so that they cannot deadlock.
      select id, phone_number_id from senders
      where phone_number_id = any(${[...businessAccounts.keys()]}::text[]) and removed_at is null and business_account_id is null
      order by id for no key update
    ), learned as (
      update senders s set business_account_id = k.business_account_id
      from unread u
      join unnest(${[...businessAccounts.keys()]}::text[], ${[...businessAccounts.values()]}::text[]) as k (phone_number_id, business_account_id)
        on k.phone_number_id = u.phone_number_id
      where s.id = u.id
    )
    insert into provider_reports (key, reporter, kind, report, due_at)
    -- Truncated, because a rounded-up time would be in the future.
    select r.key, ${accountId}::uuid, r.kind, r.report, date_trunc('milliseconds', now())
    from json_to_recordset(${JSON.stringify(records)}::json) as r (key text, kind text, report json)
    -- All callers insert in the same order, so that two callers with the same reports cannot deadlock.
    order by r.key collate "C"
    on conflict (key) do nothing`;
}

/** The most unapplied reports of one account's own app. */
const WAITING_MAX = 10_000;

/**
 * Returns only the reports that an app may make, because the holder of its secret can forge any report:
 *
 * - receipts that name an attempt of the account's sends, made by one of the account's own senders. (A sender may have belonged to another
 *   account before.) The claim writes the sender of an attempt before the call, so no receipt arrives too early for this check
 * - receipts of a sender's test message, for `listReceiptStatuses`: they name no stored send, and no stored message has their id
 * - denials of the same messages, if the id of the message is stored
 * - changes of business accounts in which no other account has a sender
 *
 * An additional app of the operator (`accountId` is null) may report in the same way on shared senders, for the sends of all accounts.
 *
 * @returns null if these reports would bring the account's own app above `WAITING_MAX` unapplied reports
 */
export async function reportsOfApp(
  { sql }: Connection,
  { accountId }: OwnApp,
  { receipts, denials, changes }: NewReports,
): Promise<NewReports | null> {
  const [own] = await sql.query<
    [{ waiting: number; receipts: number[]; denials: number[]; accounts: string[] }]
  >`
    with own as materialized (
      select id, business_account_id from senders where account_id is not distinct from ${accountId}::uuid
    )
    select (
      select count(*)::integer from (select from provider_reports where reporter = ${accountId}::uuid limit ${WAITING_MAX}) w
    ) as waiting, array(
      select r.n::integer from unnest(${receipts.map(({ attempt }) => attempt?.sendId ?? null)}::uuid[],
        ${receipts.map(({ attempt }) => attempt?.number ?? null)}::integer[],
        ${receipts.map(({ messageId }) => messageId)}::text[]) with ordinality as r (send_id, number, message_id, n)
      left join sends s on s.id = r.send_id
      where case when s.id is null then r.send_id is not null and not exists (select from attempts where message_id = r.message_id)
        else s.account_id = coalesce(${accountId}::uuid, s.account_id)
          and coalesce((select sender_id from attempts where send_id = s.id and number = r.number),
            case when s.attempt_number = r.number then s.sender_id end) in (select id from own) end
    ) as receipts, array(
      select d.n::integer from unnest(${denials.map(({ messageId }) => messageId)}::text[]) with ordinality as d (message_id, n)
      cross join lateral (select * from attempts where message_id = d.message_id order by started_at limit 1) a
      join sends s on s.id = a.send_id and s.account_id = coalesce(${accountId}::uuid, s.account_id)
      where a.sender_id in (select id from own)
    ) as denials, array(
      select business_account_id from own where business_account_id is not null
      except select business_account_id from senders where account_id is distinct from ${accountId}::uuid and removed_at is null
    ) as accounts`;
  const ownChanges = changes.filter(({ businessAccountId }) => own.accounts.includes(businessAccountId));
  if (own.waiting + own.receipts.length + own.denials.length + ownChanges.length > WAITING_MAX) return null;
  return {
    receipts: own.receipts.map((n) => receipts[n - 1]!),
    denials: own.denials.map((n) => denials[n - 1]!),
    changes: ownChanges,
  };
}

/** Returns the statuses of a message in stored receipts. Receipts that match no send are kept for five minutes. */
export async function listReceiptStatuses(database: Database, messageId: string): Promise<string[]> {
  const rows = await database.sql.query<{ status: string }[]>`
    select report ->> 'status' as status from provider_reports
    where kind = 'receipt' and report ->> 'messageId' = ${messageId}`;
  return rows.map(({ status }) => status);
}

/** The most reports in one batch: from the operator's app, and from all accounts' own apps together. */
const BATCH = { operator: 400, ownApps: 25 };

export interface DueReports {
  receipts: StoredReport<Receipt>[];
  denials: StoredReport<Denial>[];
  changes: StoredReport<ProviderChange>[];
  /** Whether more reports may be due. */
  mayBeMore: boolean;
}

interface ReportRow {
  key: string;
  kind: 'receipt' | 'denial' | 'change';
  report: { occurredAt: string };
}

/**
 * Returns a batch of due reports, starting with receipts of the oldest sends: their keys start with the send's id. Accounts' own apps take
 * turns in their part of the batch.
 */
export async function readDueReports(database: Database): Promise<DueReports> {
  const rows = await database.sql.query<ReportRow[]>`
    with recursive reporters as (
      (select reporter from provider_reports where reporter is not null order by reporter limit 1)
      union all
      select (select p.reporter from provider_reports p where p.reporter > r.reporter order by p.reporter limit 1)
      from reporters r where r.reporter is not null
    ), of_own_apps as (
      select d.*, row_number() over (partition by r.reporter order by d.key) as turn
      from reporters r cross join lateral (
        select key, kind, report from provider_reports
        where reporter = r.reporter and due_at <= statement_timestamp() order by key limit ${BATCH.ownApps}
      ) d
    )
    (
      select key, kind, report from provider_reports
      where reporter is null and due_at <= statement_timestamp() order by key limit ${BATCH.operator}
    ) union all (
      select key, kind, report from of_own_apps order by turn, key limit ${BATCH.ownApps}
    )`;
  const selectReports = <Report>(kind: ReportRow['kind']): StoredReport<Report>[] =>
    rows
      .filter((row) => row.kind === kind)
      .map(({ key, report }) => ({
        key,
        report: { ...report, occurredAt: new Date(report.occurredAt) } as Report,
      }));
  return {
    receipts: selectReports('receipt'),
    denials: selectReports('denial'),
    changes: selectReports('change'),
    mayBeMore: rows.length >= BATCH.ownApps,
  };
}

/** Deletes a report that is applied. */
export async function deleteReport({ sql }: Database, key: string): Promise<void> {
  await sql.execute`delete from provider_reports where key = ${key}::text`;
}

/** Postpones reports that cannot be applied yet: by one second at first, and eventually by a minute. */
export async function postponeReports({ sql }: Database, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await sql.execute`
    update provider_reports set due_at = clock_timestamp() + make_interval(secs => least(60, 2 ^ tries)), tries = least(tries + 1, 1000)
    where key = any(${[...keys]}::text[])`;
}

/** With the waits of `postponeReports`, about five minutes. An attempt is written when its call or its lease ends, which is sooner. */
const UNMATCHED_TRIES_MAX = 10;

/** Postpones reports of messages that are not known yet, and deletes them after ten tries. @returns the keys that this call deleted */
export async function postponeUnmatched(database: Database, keys: readonly string[]): Promise<string[]> {
  if (keys.length === 0) return [];
  const deleted = await database.sql.query<{ key: string }[]>`
    delete from provider_reports where key = any(${[...keys]}::text[]) and tries >= ${UNMATCHED_TRIES_MAX}::integer returning key`;
  await postponeReports(database, keys);
  return deleted.map(({ key }) => key);
}

type StoredReceipt = StoredReport<Receipt>;

/** A send with the stored receipts that report on it. */
export interface ReportedSend {
  send: SendRow;
  /** The outcomes of its ended attempts, by their numbers. */
  outcomes: ReadonlyMap<number, AttemptOutcome>;
  /** Whether its cost is already counted. */
  isPriced: boolean;
  receipts: { key: string; receipt: Receipt; attempt: ReportedAttempt }[];
}

/** Reads the sends that receipts report on, each once. @returns the sends, and the receipts of unknown messages */
export async function findReportedSends(
  database: Database,
  receipts: readonly StoredReceipt[],
): Promise<{ sends: ReportedSend[]; unmatched: StoredReceipt[] }> {
  const messages = new Map(receipts.map(({ report }) => [messageKey(report), report]));
  const rows = await readMessages(database, [...messages.values()]);
  const rowsByMessage = new Map([...messages.keys()].map((name, index) => [name, rows[index]]));
  const sends = new Map<string, ReportedSend>();
  const unmatched: StoredReceipt[] = [];
  for (const stored of receipts) {
    const row = rowsByMessage.get(messageKey(stored.report));
    if (row === undefined) {
      unmatched.push(stored);
      continue;
    }
    const { isPriced, number, attemptSenderId: senderId, phoneNumberId, startedAt } = row;
    const { messageStatus, recipientKey } = row;
    const attempt = { number, senderId, phoneNumberId, startedAt, messageStatus, recipientKey };
    const outcomes = new Map(row.outcomes);
    const known = sends.get(row.id) ?? { send: row, outcomes, isPriced, receipts: [] };
    known.receipts.push({ key: stored.key, receipt: stored.report, attempt });
    sends.set(row.id, known);
  }
  return { sends: [...sends.values()], unmatched };
}

/** Returns the same key for receipts of the same message. */
const messageKey = ({ attempt, messageId }: Receipt): string =>
  `${attempt?.sendId}.${attempt?.number} ${messageId}`;

/** The row of a message's send, with its attempt. `senderId` is that of the send. */
interface MessageRow extends SendRow, Omit<ReportedAttempt, 'senderId'> {
  attemptSenderId: string | null;
  outcomes: [number: number, AttemptOutcome][];
  isPriced: boolean;
}

/**
 * Reads the sends and attempts of messages, in one snapshot. A receipt reports on the first of these attempts that exists:
 *
 * 1. the ended attempt that it names, unless that attempt has another message id
 * 2. the attempt in progress that it names
 * 3. the attempt with its message id. If the receipt names an existing send, only an attempt of it, because an account's own app must not
 *    report on other accounts' sends
 *
 * @returns the row of each message, or undefined if no attempt matches
 */
async function readMessages(
  database: Database,
  messages: readonly Receipt[],
): Promise<(MessageRow | undefined)[]> {
  if (messages.length === 0) return [];
  const rows = await database.sql.read<WithOrdinal<MessageRow>[]>`
    select r.ordinal, ${sendColumns('s')}, s.pricing is not null as "isPriced", a.number,
      a.sender_id as "attemptSenderId", (select phone_number_id from senders where id = a.sender_id) as "phoneNumberId",
      a.started_at as "startedAt", a.message_status as "messageStatus", s.recipient_key as "recipientKey", (
        select coalesce(json_agg(json_build_array(o.number, o.outcome)), '[]') from attempts o where o.send_id = s.id
      ) as outcomes
    from unnest(
      ${messages.map(({ attempt }) => attempt?.sendId ?? null)}::uuid[],
      ${messages.map(({ attempt }) => attempt?.number ?? null)}::smallint[],
      ${messages.map(({ messageId }) => messageId)}::text[]
    ) with ordinality as r (send_id, attempt, message_id, ordinal)
    cross join lateral (
      select send_id, number, sender_id, started_at, message_status from attempts
      where send_id = r.send_id and number = r.attempt and coalesce(message_id = r.message_id, true)
      union all
      select id, attempt_number, sender_id, claimed_at, null from sends
      where id = r.send_id and attempt_number = r.attempt and claimed_at is not null
        and not exists (select from attempts where send_id = r.send_id and number = r.attempt)
      union all (
        select send_id, number, sender_id, started_at, message_status from attempts
        where message_id = r.message_id and send_id = coalesce((select id from sends where id = r.send_id), send_id)
        order by started_at limit 1
      ) limit 1
    ) a
    cross join lateral (select * from sends where id = a.send_id limit 1) s`;
  return byOrdinal(messages, rows);
}

/**
 * Stores the time of a send's first denial. The provider's time has whole seconds. It is limited to the time between the sending of the
 * message and now.
 *
 * @returns false if no attempt has the message
 */
export async function applyDenial({ sql }: Database, { messageId, occurredAt }: Denial): Promise<boolean> {
  const [{ isKnown }] = await sql.query<[{ isKnown: boolean }]>`
    with known as materialized (
      select send_id from attempts where message_id = ${messageId}::text order by started_at limit 1
    ), denied as (
      update sends set version = version + 1,
        denied_at = greatest(coalesce(sent_at, created_at), least(${occurredAt}::timestamptz, statement_timestamp()))
      where id = (select send_id from known) and denied_at is null
    )
    select exists (select from known) as "isKnown"`;
  return isKnown;
}

/**
 * Calls `write`, and counts the written failure if the sender is an account's own and has its own Meta app. It counts before `write`, and
 * undoes this if `write` returns null or throws. If the process is killed in between, a failure that was not written stays counted.
 *
 * @param senderId the sender of the failed message; null if there is no failure
 * @param write its argument is true if the app has used up its failures (`OWN_FAILURES`) of the month of `units_on` (UTC)
 */
export async function countOwnFailure<Written>(
  database: Connection,
  senderId: string | null,
  write: (isOverLimit: boolean) => Promise<Written | null>,
): Promise<Written | null> {
  if (senderId === null) return write(false);
  const [account] = await database.sql.query<{ id: string; month: string; max: number }[]>`
    select a.id, to_char(a.units_on, 'YYYY-MM') as month,
      greatest(${OWN_FAILURES.atLeast}::integer, floor(a.units_of_month * ${OWN_FAILURES.share}::float8)::integer) as max
    from senders s join accounts a on a.id = s.account_id
    where s.id = ${senderId}::uuid and s.encrypted_app_secret is not null`;
  if (account === undefined) return write(false);
  const subject = `failures reported by the app of ${account.id} in ${account.month}`;
  const limit = { max: account.max, seconds: MONTH_SECONDS_MAX };
  if ((await takeTry(database, subject, limit)) === null) return write(true);
  let written: Written | null = null;
  try {
    written = await write(false);
    return written;
  } finally {
    if (written === null) await returnTry(database, subject);
  }
}

const MONTH_SECONDS_MAX = 31 * 86_400;
