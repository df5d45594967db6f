import type { AttemptOutcome, Denial, Receipt, ReportedAttempt } from '@onecode/domain';
import { byOrdinal, type WithOrdinal } from '../client/batcher.js';
import type { Database } from '../client/database.js';
import type { StoredReport } from './providerReports.js';
import { sendColumns, type SendRow } from './sendRow.js';

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

/** Returns the same name for receipts of the same message. */
const messageKey = ({ attempt, messageId }: Receipt): string =>
  `${attempt?.sendId}.${attempt?.number} ${messageId}`;

/** The row of a message's send, with its attempt. `senderId` is that of the send. */
interface MessageRow extends SendRow, Omit<ReportedAttempt, 'senderId'> {
  attemptSenderId: string | null;
  outcomes: [number: number, AttemptOutcome][];
  isPriced: boolean;
}

/**
 * Reads the sends and attempts of messages, in one snapshot. A receipt reports on the attempt that it names, ended or in progress, unless
 * that attempt has another message id. Otherwise it reports on the attempt with its message id; if the receipt names a send, only within
 * that send, because an account's own app must not report on other accounts' sends.
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

/** The send that a denial is about. */
export interface DeniedSend {
  applicationId: string;
  country: string | null;
  /** Whether this is its first denial. */
  isNew: boolean;
}

/**
 * Stores the time of a send's first denial. The provider's time has whole seconds; it is limited to the time since the message was sent.
 *
 * @returns null if no attempt has the message
 */
export async function applyDenial(
  database: Database,
  { messageId, occurredAt }: Denial,
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
    )
    select application_id as "applicationId", country, exists (select from denied) as "isNew" from known`;
  return row ?? null;
}
