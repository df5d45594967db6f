import type { AttemptOutcome } from '@onecode/domain';
import type { Connection } from '../client/database.js';

/** A sender's calls with the same outcome and error. */
interface SenderError {
  outcome: Exclude<AttemptOutcome, 'accepted'>;
  errorCode: number | null;
  times: number;
  lastAt: Date;
}

/** A sender's calls of the last hour. */
export interface SenderActivity {
  senderId: string;
  /** Calls by outcome, without those in progress. */
  outcomes: Partial<Record<AttemptOutcome, number>>;
  /** Latest first, at most five. */
  errors: SenderError[];
}

/** If an hour has more calls, only the latest ones are read. */
const ATTEMPTS_MAX = 20_000;
const ERRORS_MAX = 5;

interface CountedOutcome {
  senderId: string;
  outcome: AttemptOutcome;
  errorCode: number | null;
  times: number;
  lastAt: Date;
}

/** Returns each sender's calls of the last hour, out of the latest 20,000 of all senders. */
export async function readSenderActivity(database: Connection): Promise<SenderActivity[]> {
  const counted = await database.sql.query<CountedOutcome[]>`
    select c.sender_id as "senderId", c.outcome, c.error_code as "errorCode",
      count(*)::integer as times, max(c.started_at) as "lastAt"
    from (
      select sender_id, outcome, error_code, started_at from attempts
      where finished_at > statement_timestamp() - interval '1 hour' order by finished_at desc limit ${ATTEMPTS_MAX}::integer
    ) c
    where c.sender_id is not null
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
