import type { SimulatorControl, TestDatabase } from '@onecode/testing';
import type { Evidence, Rows } from '../evidence.js';

/** Where the evidence comes from. */
export interface Sources extends Pick<Evidence, 'history' | 'attemptsMax' | 'finished'> {
  database: Pick<TestDatabase, 'sql'>;
  simulator: SimulatorControl;
  /** The run's own clock, which the history uses. */
  now: () => number;
}

/**
 * Reads all rows and the provider's log after clients have stopped and no work is in progress.
 * @throws when the provider's log is incomplete: KEEP_MESSAGES must exceed the run's messages
 */
export async function readEvidence(sources: Sources): Promise<Evidence> {
  const { database, simulator, history, attemptsMax, finished, now } = sources;
  // The provider first, so that the rows include all its reports.
  const [messages, requests, webhooksUnanswered] = await Promise.all([
    simulator.messages(),
    simulator.requests(),
    simulator.webhooksUnanswered(),
  ]);
  const oldest = requests.at(-1)?.number ?? 1;
  if (oldest !== 1) throw new Error(`the provider's log lacks the first ${oldest - 1} requests`);
  const rows = await readRows(database);
  return {
    history,
    attemptsMax,
    finished,
    rows,
    provider: { messages, requests, webhooksUnanswered },
    clockStart: await readClockStart(database, now),
  };
}

/** Reads all tables in one statement, so that they are consistent. */
async function readRows(database: Sources['database']): Promise<Rows> {
  const [read] = await database.sql<{ rows: object }>(
    `select json_build_object(
       'now_at', clock_timestamp(),
       'accounts', array(select to_json(a) from (select id, free_quota, credits from accounts) a),
       'sends', array(select to_json(s) from (
         select id, account_id, application_id, mode, encode(idempotency_key, 'hex') as idempotency_key, recipient, charged_from,
           encrypted_code is not null as has_encrypted_code, status, phase, verification, coalesce(cardinality(wrong_guess_times), 0) as wrong_guesses, attempts, attempt_number,
           claimed_until is not null as is_claimed, due_at, created_at, expires_at, sent_at, delivered_at, read_at, verified_at, locked_at, failed_at, failure_reason
         from sends order by created_at, id) s),
       'attempts', array(select to_json(a) from (
         select send_id || '.' || number as id, send_id, sender_id, outcome, error_code, message_id, started_at, finished_at, reported_at from attempts
         union all
         select s.id || '.' || attempt_number, s.id, sender_id, null, null, null, claimed_at, null, null from sends s
         where claimed_at is not null and not exists (select from attempts a where a.send_id = s.id and a.number = s.attempt_number)
         order by started_at, id) a),
       'ledger', array(select to_json(l) from (
         select account_id, send_id, kind, bucket, units from ledger_entries order by id) l),
       'receipts_left', (select count(*) from provider_reports)
     ) as rows`,
  );
  const { nowAt, ...rows } = toCamelCase(read?.rows) as Omit<Rows, 'now'> & { nowAt: number };
  return { now: nowAt, ...rows };
}

/** Renames columns to camel case and converts times to milliseconds since 1970. */
function toCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toCamelCase);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([column, content]: [string, unknown]) => [
      column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      column.endsWith('_at') && typeof content === 'string' ? Date.parse(content) : toCamelCase(content),
    ]),
  );
}

/** The start of the run's clock by the database's clock, taken in the middle of one short query. */
async function readClockStart(database: Sources['database'], now: () => number): Promise<number> {
  const before = now();
  const [clock] = await database.sql<{ now: Date }>('select clock_timestamp() as now');
  return clock!.now.getTime() - (before + now()) / 2;
}
