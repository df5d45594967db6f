import type { AttemptOutcome } from '@onecode/domain';
import type { Connection } from '../client/database.js';
import { firstIdAt } from '../client/ids.js';

/** Calls of a sender's that ended alike. */
export interface SenderError {
  outcome: Exclude<AttemptOutcome, 'accepted'>;
  /** The provider's code, where it gave one. */
  errorCode: number | null;
  times: number;
  lastAt: Date;
}

/** What a sender did lately, and which countries it may not message for now. */
export interface SenderActivity {
  senderId: string;
  /** Calls by what they came to; those under way are not among them. */
  outcomes: Partial<Record<AttemptOutcome, number>>;
  /** Latest first, at most five. */
  errors: SenderError[];
}

/** A country that a sender may not message for now. */
export interface BlockedCountry {
  senderId: string;
  country: string;
  blockedUntil: Date;
  errorCode: number | null;
}

const LOOKED_BACK_MS = 3_600_000;
/** Of a busier hour, only the latest calls are looked at. */
const ATTEMPTS_MAX = 20_000;
const ERRORS_MAX = 5;

interface CountedOutcome {
  senderId: string;
  outcome: AttemptOutcome;
  errorCode: number | null;
  times: number;
  lastAt: Date;
}

/**
 * What each sender did in the last hour, by at most its latest 20,000 calls of all senders. Attempts are numbered by time (UUID
 * version 7), so an hour is a range of their primary key.
 */
export async function readSenderActivity(database: Connection): Promise<SenderActivity[]> {
  const counted = await database.$queryRaw<CountedOutcome[]>`
    select c.sender_id as "senderId", c.outcome, c.error_code as "errorCode",
      count(*)::integer as times, max(c.started_at) as "lastAt"
    from (
      select sender_id, outcome, error_code, started_at from attempts
      where id >= ${firstIdAt(new Date(Date.now() - LOOKED_BACK_MS))}::uuid
      order by id desc limit ${ATTEMPTS_MAX}::integer
    ) c
    where c.sender_id is not null and c.outcome is not null
    group by 1, 2, 3 order by "lastAt" desc`;
  const senders = new Map<string, SenderActivity>();
  for (const { senderId, outcome, ...rest } of counted) {
    const sender = senders.get(senderId) ?? { senderId, outcomes: {}, errors: [] };
    senders.set(senderId, sender);
    sender.outcomes[outcome] = (sender.outcomes[outcome] ?? 0) + rest.times;
    if (outcome !== 'accepted' && sender.errors.length < ERRORS_MAX) sender.errors.push({ outcome, ...rest });
  }
  return [...senders.values()];
}

/** The countries that senders may not message for now, by name. */
export async function listBlockedCountries(database: Connection): Promise<BlockedCountry[]> {
  return database.$queryRaw<BlockedCountry[]>`
    select sender_id as "senderId", country, blocked_until as "blockedUntil", error_code as "errorCode"
    from sender_country_blocks where blocked_until > statement_timestamp() order by country`;
}
