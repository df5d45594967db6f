import type { AttemptOutcome, UnitBucket } from '@onecode/domain';
import type { Database } from '../client/database.js';
import { type SendSummary, SUMMARY_COLUMNS, summaryOf, type SummaryRow } from './sendSummary.js';

/** One call to the provider. */
export interface AttemptDetails {
  /** From 1 in its send. */
  number: number;
  startedAt: Date;
  /** Null while the call is under way. */
  finishedAt: Date | null;
  outcome: AttemptOutcome | null;
  /** The provider's code, where it gave one. */
  errorCode: number | null;
  /** E.164; null when the attempt's sender is not known. */
  senderNumber: string | null;
  /** Whether the sender is the account's own. */
  isOwnSender: boolean;
}

/** What the provider reported of a message after its answer. */
export interface ReceiptDetails {
  /** The number of the attempt whose message it reports on; null where that is not known. */
  attempt: number | null;
  status: 'delivered' | 'read' | 'failed';
  /** The provider's time, in whole seconds. */
  occurredAt: Date;
  errorCode: number | null;
}

/** A unit that was reserved for a send, or returned. */
export interface UnitDetails {
  kind: 'reserved' | 'returned';
  bucket: UnitBucket;
  at: Date;
}

/** Everything that happened to a send, without its code, its whole recipient and the provider's message ids. */
export interface SendDetails extends SendSummary {
  /** The sender's E.164 number. */
  from: string | null;
  /** Calls that count against the limit. */
  attemptsCounted: number;
  awaitingSender: boolean;
  /** When a worker acts on it next; null when nothing is left to do. */
  dueAt: Date | null;
  /** Since when it has to go out again, because its message was lost. */
  lostAt: Date | null;
  sentAt: Date | null;
  deliveredAt: Date | null;
  readAt: Date | null;
  verifiedAt: Date | null;
  failedAt: Date | null;
  wrongGuesses: number;
  /** When wrong codes were given, oldest first. */
  wrongGuessTimes: Date[];
  /** Oldest first, like the two lists below. */
  attempts: AttemptDetails[];
  receipts: ReceiptDetails[];
  units: UnitDetails[];
  /** When its recipient said that they did not request it, by the provider's clock, oldest first. */
  deniedAt: Date[];
  /** When it turned out that its recipient's number had changed hands since they last verified a code, or null. */
  identityChangedAt: Date | null;
  /** The request that created it, and its trace as W3C's `traceparent`; null where none was kept. */
  requestId: string;
  traceparent: string | null;
}

interface DetailsRow extends SummaryRow {
  from_number: string | null;
  attempts: number;
  awaiting_sender: boolean;
  due_at: Date | null;
  lost_at: Date | null;
  sent_at: Date | null;
  delivered_at: Date | null;
  read_at: Date | null;
  verified_at: Date | null;
  failed_at: Date | null;
  wrong_guesses: number;
  request_id: string;
  traceparent: string | null;
  lists: {
    wrong_guess_times: string[];
    attempts: (Serialized<AttemptDetails> & { reportedAt: string | null; reportedCode: number | null })[];
    units: Serialized<UnitDetails>[];
    denied_at: string[];
    identity_changed_at: string | null;
  };
}

/** A record in JSON, where times are texts. */
type Serialized<T> = { [K in keyof T]: Date extends T[K] ? string | Exclude<T[K], Date> : T[K] };

/** One send of this account with everything that happened to it, as of one moment; null when the account has no such send. */
export async function findSendDetails(
  database: Database,
  accountId: string,
  sendId: string,
): Promise<SendDetails | null> {
  const [row] = await database.sql.query<DetailsRow[]>`
    select ${SUMMARY_COLUMNS}, statement_timestamp() as now, s.from_number, s.attempts, s.awaiting_sender, s.due_at, s.lost_at,
      s.sent_at, s.delivered_at, s.read_at, s.verified_at, s.failed_at, s.wrong_guesses, s.request_id, s.traceparent,
      jsonb_build_object('wrong_guess_times', to_jsonb(coalesce(s.wrong_guess_times, '{}')), 'attempts', (
        select coalesce(jsonb_agg(jsonb_build_object('number', c.number, 'startedAt', c.started_at, 'finishedAt', c.finished_at,
          'outcome', c.outcome, 'errorCode', c.error_code, 'senderNumber', senders.number,
          'isOwnSender', senders.account_id is not null, 'reportedAt', c.reported_at,
          'reportedCode', c.reported_code) order by c.number), '[]')
        from (
          select number, sender_id, started_at, finished_at, outcome, error_code, reported_at, reported_code from attempts
          where send_id = s.id
          union all
          -- The one under way, unless a receipt came before its answer.
          select s.attempt_number, s.sender_id, s.claimed_at, null, null, null, null, null
          where s.claimed_at is not null
            and not exists (select from attempts where send_id = s.id and number = s.attempt_number)
        ) c left join senders on senders.id = c.sender_id
      ), 'units', (
        select coalesce(jsonb_agg(jsonb_build_object('kind', l.kind, 'bucket', l.bucket, 'at', l.created_at) order by l.id), '[]')
        from ledger_entries l where l.send_id = s.id
      ), 'denied_at', (
        select coalesce(jsonb_agg(d.occurred_at order by d.occurred_at), '[]') from denials d where d.send_id = s.id
      ), 'identity_changed_at', (
        select i.seen_at from send_identities i where i.send_id = s.id and i.has_changed
      )) as lists
    from sends s join applications a on a.id = s.application_id
    where s.id = ${sendId}::uuid and s.account_id = ${accountId}::uuid`;
  return row === undefined ? null : detailsOf(row);
}

function detailsOf(row: DetailsRow): SendDetails {
  const { lists } = row;
  return {
    ...summaryOf(row),
    from: row.from_number,
    attemptsCounted: row.attempts,
    awaitingSender: row.awaiting_sender,
    dueAt: row.due_at,
    lostAt: row.lost_at,
    sentAt: row.sent_at,
    deliveredAt: row.delivered_at,
    readAt: row.read_at,
    verifiedAt: row.verified_at,
    failedAt: row.failed_at,
    wrongGuesses: row.wrong_guesses,
    wrongGuessTimes: lists.wrong_guess_times.map((at) => new Date(at)),
    attempts: lists.attempts.map(({ reportedAt: _at, reportedCode: _code, ...attempt }) => ({
      ...attempt,
      startedAt: new Date(attempt.startedAt),
      finishedAt: attempt.finishedAt === null ? null : new Date(attempt.finishedAt),
    })),
    receipts: receiptsOf(row),
    units: lists.units.map((unit) => ({ ...unit, at: new Date(unit.at) })),
    deniedAt: lists.denied_at.map((at) => new Date(at)),
    identityChangedAt: lists.identity_changed_at === null ? null : new Date(lists.identity_changed_at),
    requestId: row.request_id,
    traceparent: row.traceparent,
  };
}

function receiptsOf({
  lists,
  channel,
  delivered_at: deliveredAt,
  read_at: readAt,
}: DetailsRow): ReceiptDetails[] {
  const receipts = lists.attempts.flatMap(({ number, reportedAt, reportedCode }): ReceiptDetails[] =>
    reportedAt === null
      ? []
      : [{ attempt: number, status: 'failed', occurredAt: new Date(reportedAt), errorCode: reportedCode }],
  );
  if (channel !== 'whatsapp') return receipts;
  const attempt = lists.attempts.findLast(({ outcome }) => outcome === 'accepted')?.number ?? null;
  if (deliveredAt !== null)
    receipts.push({ attempt, status: 'delivered', occurredAt: deliveredAt, errorCode: null });
  if (readAt !== null) receipts.push({ attempt, status: 'read', occurredAt: readAt, errorCode: null });
  return receipts.toSorted((one, other) => one.occurredAt.getTime() - other.occurredAt.getTime());
}

/** The account of a send; null when there is no such send. For the staff only: everybody else names their account. */
export async function findSendAccount(
  database: Database,
  sendId: string,
): Promise<{ id: string; name: string } | null> {
  const [account] = await database.sql.query<{ id: string; name: string }[]>`
    select a.id, a.name from sends s join accounts a on a.id = s.account_id where s.id = ${sendId}::uuid`;
  return account ?? null;
}
