import { hash } from 'node:crypto';
import type { Denial, ProviderChange, Receipt } from '@onecode/domain';
import type { Database } from '../client/database.js';

/** The reports of one webhook. */
export interface NewReports {
  receipts: readonly Receipt[];
  denials: readonly Denial[];
  changes: readonly ProviderChange[];
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
 * Stores reports in one statement, for the worker to apply. Skips repeats of reports that are stored and not applied yet.
 *
 * @param accountId the owner of the Meta app that sent the reports; null for the operator's app
 * @returns how many are new
 */
export async function storeReports(
  database: Database,
  { receipts, denials, changes }: NewReports,
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
    insert into provider_reports (key, reporter, kind, report, due_at)
    -- Truncated: a rounded time would be in the future half of the time.
    select r.key, ${accountId}::uuid, r.kind, r.report, date_trunc('milliseconds', now())
    from json_to_recordset(${JSON.stringify(records)}::json) as r (key text, kind text, report json)
    -- All callers insert in the same order, so that two callers with the same reports cannot deadlock.
    order by r.key collate "C"
    on conflict (key) do nothing`;
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
  isFull: boolean;
}

interface ReportRow {
  key: string;
  kind: 'receipt' | 'denial' | 'change';
  report: { occurredAt: string };
  isOperators: boolean;
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
      select key, kind, report, true as "isOperators" from provider_reports
      where reporter is null and due_at <= statement_timestamp() order by key limit ${BATCH.operator}
    ) union all (
      select key, kind, report, false from of_own_apps order by turn, key limit ${BATCH.ownApps}
    )`;
  const selectReports = <Report>(kind: ReportRow['kind']): StoredReport<Report>[] =>
    rows
      .filter((row) => row.kind === kind)
      .map(({ key, report }) => ({
        key,
        report: { ...report, occurredAt: new Date(report.occurredAt) } as Report,
      }));
  const operatorCount = rows.filter(({ isOperators }) => isOperators).length;
  return {
    receipts: selectReports('receipt'),
    denials: selectReports('denial'),
    changes: selectReports('change'),
    isFull: operatorCount >= BATCH.operator || rows.length - operatorCount >= BATCH.ownApps,
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

/** With the waits of `postponeReports`, about five minutes. The attempt of a report is always written before that. */
const UNMATCHED_TRIES_MAX = 10;

/** Postpones reports of messages that are not known yet, and deletes them after ten tries. @returns the keys that this call deleted */
export async function postponeUnmatched(database: Database, keys: readonly string[]): Promise<string[]> {
  if (keys.length === 0) return [];
  const deleted = await database.sql.query<{ key: string }[]>`
    delete from provider_reports where key = any(${[...keys]}::text[]) and tries >= ${UNMATCHED_TRIES_MAX}::integer returning key`;
  await postponeReports(database, keys);
  return deleted.map(({ key }) => key);
}
