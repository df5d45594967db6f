import type { AttemptOutcome, Denial, Receipt, ReportedAttempt } from '@onecode/domain';
import type { Database } from '../client/database.js';
import type { StoredReport } from './providerReports.js';
import { readReportedSends } from './readSend.js';
import { createWriter, type DecidedSend } from './updateSends.js';

type StoredReceipt = StoredReport<Receipt>;

/** A send as it was read, with the stored receipts that report on it. */
export interface ReportedSend extends DecidedSend {
  /** The numbers and outcomes of its ended attempts. */
  outcomes: [number: number, AttemptOutcome][];
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
    const { version, now, outcomes, isPriced } = row;
    const known = sends.get(row.id) ?? { send: row, version, now, outcomes, isPriced, receipts: [] };
    const { key, report: receipt } = stored;
    const {
      number,
      attemptSenderId: senderId,
      phoneNumberId,
      startedAt,
      outcome,
      messageStatus,
      recipientKey,
    } = row;
    // Only these fields: the attempt is copied for each receipt.
    const attempt = { number, senderId, phoneNumberId, startedAt, outcome, messageStatus, recipientKey };
    known.receipts.push({ key, receipt, attempt });
    sends.set(row.id, known);
  }
  return { sends: [...sends.values()], unmatched };
}

/** Returns the same name for receipts of the same message. */
const messageKey = ({ attempt, messageId }: Receipt): string =>
  `${attempt?.sendId}.${attempt?.number} ${messageId}`;

/**
 * Writes the decision about a send's receipts, and deletes the receipts. If it returns null, all receipts are still stored. Outcomes have
 * their own writer, so that they do not wait for a large batch of receipts.
 */
export const writeReceipts = createWriter(200);

/** The send that a denial is about. */
export interface DeniedSend {
  applicationId: string;
  country: string | null;
  /** Whether this is its first denial. */
  isNew: boolean;
}

/**
 * Stores the time of a send's first denial, and deletes the report. The provider's time has whole seconds; it is limited to the time since
 * the message was sent. @returns null, with nothing changed, if no attempt has the message
 */
export async function applyDenial(
  database: Database,
  { key, report: { messageId, occurredAt } }: StoredReport<Denial>,
): Promise<DeniedSend | null> {
  const [row] = await database.sql.query<DeniedSend[]>`
    with known as materialized (
      select s.id, s.application_id, s.country from (
        select send_id from attempts where message_id = ${messageId}::text order by started_at limit 1
      ) a cross join lateral (select * from sends where id = a.send_id limit 1) s
    ), denied as (
      update sends set version = version + 1,
        denied_at = greatest(coalesce(sent_at, created_at), least(${occurredAt}::timestamptz, statement_timestamp()))
      where id = (select id from known) and denied_at is null
      returning id
    ), deleted as (
      delete from provider_reports where key = ${key}::text and exists (select from known)
    )
    select application_id as "applicationId", country, exists (select from denied) as "isNew" from known`;
  return row ?? null;
}
