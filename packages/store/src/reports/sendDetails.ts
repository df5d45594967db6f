import type { AttemptOutcome, MessageStatus, Phase, UnitBucket } from '@onecode/domain';
import type { Database } from '../client/database.js';
import { type SendSummary, SUMMARY_COLUMNS, toSummary, type SummaryRow } from './sendSummary.js';

export interface AttemptDetails {
  number: number;
  startedAt: Date;
  /** Null while the call is in progress. */
  finishedAt: Date | null;
  outcome: AttemptOutcome | null;
  errorCode: number | null;
  /** Null if the provider did not hold the message. */
  messageStatus: MessageStatus | null;
  /** E.164; null if the attempt's sender is unknown. */
  senderNumber: string | null;
  isOwnSender: boolean;
}

/** A report by the provider about a message after its response. */
export interface ReceiptDetails {
  /** The number of the attempt that it reports on; null if unknown. */
  attempt: number | null;
  status: 'delivered' | 'read' | 'failed';
  occurredAt: Date;
  errorCode: number | null;
}

/** A ledger entry of a send's unit. */
interface UnitDetails {
  kind: 'reserved' | 'returned' | 'reclaimed';
  bucket: UnitBucket;
  at: Date;
}

/** Everything that happened to a send, except for its code, its full recipient and the provider's message ids. */
export interface SendDetails extends SendSummary {
  from: string | null;
  phase: Phase;
  /** When a worker processes it next; null if there is nothing left to do. */
  dueAt: Date | null;
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
  /** When the recipient first reported that they did not request it, or null. */
  deniedAt: Date | null;
  /** When a receipt showed that the number's owner has changed since the last verified code, or null. */
  identityChangedAt: Date | null;
  /** The request that created it, and its trace as W3C `traceparent`; null if none was stored. */
  requestId: string;
  traceparent: string | null;
}

interface Lists {
  wrongGuessTimes: string[];
  attempts: (Serialized<AttemptDetails> & { reportedAt: string | null; reportedCode: number | null })[];
  units: Serialized<UnitDetails>[];
  identityChangedAt: string | null;
}

type DetailsRow = SummaryRow &
  Omit<SendDetails, keyof SendSummary | keyof Lists | 'receipts'> & { lists: Lists };

/** A record in JSON, in which times are texts. */
type Serialized<T> = { [K in keyof T]: Date extends T[K] ? string | Exclude<T[K], Date> : T[K] };

/** Returns one send of this account with everything that happened to it, in one snapshot; null if the account has no such send. */
export async function findSendDetails(
  database: Database,
  accountId: string,
  sendId: string,
): Promise<SendDetails | null> {
  const [row] = await database.sql.query<DetailsRow[]>`
    select ${SUMMARY_COLUMNS}, s.from_number as "from", s.phase, s.due_at as "dueAt",
      s.sent_at as "sentAt", s.delivered_at as "deliveredAt", s.read_at as "readAt",
      s.verified_at as "verifiedAt", s.failed_at as "failedAt", coalesce(cardinality(s.wrong_guess_times), 0) as "wrongGuesses", s.denied_at as "deniedAt",
      s.request_id as "requestId", s.traceparent, jsonb_build_object('wrongGuessTimes', to_jsonb(coalesce(s.wrong_guess_times, '{}')), 'attempts', (
        select coalesce(jsonb_agg(jsonb_build_object('number', c.number, 'startedAt', c.started_at, 'finishedAt', c.finished_at,
          'outcome', c.outcome, 'errorCode', c.error_code, 'messageStatus', c.message_status, 'senderNumber', senders.number,
          'isOwnSender', senders.account_id is not null, 'reportedAt', c.reported_at,
          'reportedCode', c.reported_code) order by c.number), '[]')
        from (
          select number, sender_id, started_at, finished_at, outcome, error_code, message_status, reported_at, reported_code from attempts
          where send_id = s.id
          union all
          -- The attempt in progress, unless a receipt arrived before the response.
          select s.attempt_number, s.sender_id, s.claimed_at, null, null, null, null, null, null
          where s.claimed_at is not null
            and not exists (select from attempts where send_id = s.id and number = s.attempt_number)
        ) c left join senders on senders.id = c.sender_id
      ), 'units', (
        select coalesce(jsonb_agg(jsonb_build_object('kind', l.kind, 'bucket', l.bucket, 'at', l.created_at) order by l.id), '[]')
        from ledger_entries l where l.send_id = s.id
      ), 'identityChangedAt', (
        select i.seen_at from send_identities i where i.send_id = s.id and i.has_changed
      )) as lists
    from sends s join applications a on a.id = s.application_id
    where s.id = ${sendId}::uuid and s.account_id = ${accountId}::uuid`;
  return row === undefined ? null : toDetails(row);
}

function toDetails({ lists, ...row }: DetailsRow): SendDetails {
  return {
    ...toSummary(row),
    wrongGuessTimes: lists.wrongGuessTimes.map((at) => new Date(at)),
    attempts: lists.attempts.map(({ reportedAt: _at, reportedCode: _code, ...attempt }) => ({
      ...attempt,
      startedAt: new Date(attempt.startedAt),
      finishedAt: attempt.finishedAt === null ? null : new Date(attempt.finishedAt),
    })),
    receipts: toReceipts(row, lists.attempts),
    units: lists.units.map((unit) => ({ ...unit, at: new Date(unit.at) })),
    identityChangedAt: lists.identityChangedAt === null ? null : new Date(lists.identityChangedAt),
  };
}

function toReceipts(
  { channel, deliveredAt, readAt }: Omit<DetailsRow, 'lists'>,
  attempts: Lists['attempts'],
): ReceiptDetails[] {
  const receipts = attempts.flatMap(({ number, reportedAt, reportedCode }): ReceiptDetails[] =>
    reportedAt === null
      ? []
      : [{ attempt: number, status: 'failed', occurredAt: new Date(reportedAt), errorCode: reportedCode }],
  );
  if (channel !== 'whatsapp') return receipts;
  const attempt = attempts.findLast(({ outcome }) => outcome === 'accepted')?.number ?? null;
  if (deliveredAt !== null)
    receipts.push({ attempt, status: 'delivered', occurredAt: deliveredAt, errorCode: null });
  if (readAt !== null) receipts.push({ attempt, status: 'read', occurredAt: readAt, errorCode: null });
  return receipts.toSorted((one, other) => one.occurredAt.getTime() - other.occurredAt.getTime());
}

/** Returns the account of a send; null if the send does not exist. Only for staff: all other callers must name their account. */
export async function findSendAccount(
  database: Database,
  sendId: string,
): Promise<{ id: string; name: string } | null> {
  const [account] = await database.sql.query<{ id: string; name: string }[]>`
    select a.id, a.name from sends s join accounts a on a.id = s.account_id where s.id = ${sendId}::uuid`;
  return account ?? null;
}
