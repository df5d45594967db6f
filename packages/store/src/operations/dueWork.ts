import type { Database } from '../client/database.js';

/** The kinds of work that the workers' loops have to do now. Reports count only when they are late. */
export interface DueWork {
  /** Sends that are due within the next second, or wait for a sender. */
  deliveries: boolean;
  /** Stored reports of the provider that have been due for a second: their job is missing, or they were postponed. */
  reports: boolean;
  /** Senders that are due to be read from the provider. */
  readings: boolean;
  mails: boolean;
  /** Events for accounts' webhooks. */
  events: boolean;
}

/** Returns which kinds of work are due. It is the only statement that an idle worker runs every second. */
export async function readDueWork({ sql }: Database): Promise<DueWork> {
  const [due] = await sql.read<[DueWork]>`
    select
      -- The order makes the plan use the index of due sends.
      coalesce((select due_at from sends where due_at is not null order by due_at limit 1) <= statement_timestamp() + interval '1 second', false)
        or exists (select from sends where is_waiting) as deliveries,
      exists (select from provider_reports where due_at <= statement_timestamp() - interval '1 second') as reports,
      exists (select from senders where removed_at is null and read_due_at <= statement_timestamp()) as readings,
      exists (select from outbox where account_id is null and due_at <= statement_timestamp()) as mails,
      exists (select from outbox where account_id is not null and due_at <= statement_timestamp()) as events`;
  return due;
}
