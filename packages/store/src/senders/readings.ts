import type {
  BusinessAccountValues,
  Facts,
  NumberValues,
  SenderReading,
  TemplateValues,
  ToldAlert,
} from '@onecode/domain';
import type { Connection, Database } from '../client/database.js';

/** A sender that is to be read, and the database's clock at that moment. */
export interface DueReading {
  senderId: string;
  startedAt: Date;
  /** Until when it is this caller's. */
  leasedUntil: Date;
}

/** Seconds after which a read that was not finished is due again: its worker died. */
const LEASE_SECONDS = 90;
/** Between two reads of a sender, and how much more or less, so that those of many senders spread. */
const INTERVAL_SECONDS = 600;
const JITTER_SHARE = 0.2;

/** Takes a sender whose read is due, for one caller, or null when none is. New senders are due at once. */
export async function takeDueReading({ sql }: Database): Promise<DueReading | null> {
  await sql.execute`
    insert into sender_readings (sender_id)
    select s.id from senders s where not exists (select from sender_readings r where r.sender_id = s.id)
    order by s.id on conflict do nothing`;
  const [due] = await sql.query<DueReading[]>`
    with due as materialized (
      select sender_id from sender_readings where due_at <= statement_timestamp() order by due_at limit 1 for update skip locked
    )
    update sender_readings set due_at = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    where sender_id in (select sender_id from due)
    returning sender_id as "senderId", clock_timestamp()::timestamptz(3) as "startedAt", due_at as "leasedUntil"`;
  return due ?? null;
}

/** Makes the next read due in about ten minutes, unless somebody asked for one meanwhile. */
export async function postponeReading(
  { sql }: Database,
  { senderId, leasedUntil }: DueReading,
): Promise<void> {
  await sql.execute`
    update sender_readings set due_at = clock_timestamp() + make_interval(secs => ${INTERVAL_SECONDS}::float8 * (1 + ${JITTER_SHARE}::float8 * (2 * random() - 1)))
    where sender_id = ${senderId}::uuid and due_at = ${leasedUntil}`;
}

/**
 * Asks for a read of a sender now.
 *
 * @returns the time of asking by the database's clock, for `isReadSince`; null when there is no such sender
 */
export async function requestReading({ sql }: Connection, senderId: string): Promise<Date | null> {
  const [row] = await sql.query<{ at: Date }[]>`
    insert into sender_readings as r (sender_id, due_at) select id, clock_timestamp() from senders where id = ${senderId}::uuid
    on conflict (sender_id) do update set due_at = excluded.due_at
    returning due_at as at`;
  return row?.at ?? null;
}

/** One language of a sender's template, as the provider says. */
export interface KnownTemplate {
  name: string;
  language: string;
  facts: Facts<TemplateValues>;
}

/** What the provider said of a sender, its business account and its template, and how old that is. */
export interface SenderKnowledge {
  senderId: string;
  number: Facts<NumberValues>;
  businessAccount: Facts<BusinessAccountValues>;
  /** Newest first. */
  alerts: ToldAlert[];
  templates: KnownTemplate[];
  triedAt: Date | null;
  /** The last read that succeeded. */
  readAt: Date | null;
  /** Why parts of the last read failed. */
  failures: Partial<Record<keyof SenderReading, string>>;
  /** As of the last read. */
  recipients24h: number | null;
}

/** What the provider said of each sender, or of one. */
export async function listSenderKnowledge(
  { sql }: Connection,
  senderId: string | null = null,
): Promise<SenderKnowledge[]> {
  return sql.query<SenderKnowledge[]>`
    select s.id as "senderId", coalesce(r.facts, '{}') as number, coalesce(b.facts, '{}') as "businessAccount",
      coalesce(b.alerts, '[]') as alerts, (
        select coalesce(jsonb_agg(jsonb_build_object('name', t.name, 'language', t.language, 'facts', t.facts) order by t.language), '[]')
        from message_templates t where t.business_account_id = s.business_account_id and t.name = s.template
      ) as templates,
      r.tried_at as "triedAt", r.read_at as "readAt", coalesce(r.failures, '{}') as failures, r.recipients_24h as "recipients24h"
    from senders s left join sender_readings r on r.sender_id = s.id left join business_accounts b on b.id = s.business_account_id
    where coalesce(s.id = ${senderId}::uuid, true) order by s.id`;
}

/** Whether a read that began after this time has ended, well or not. */
export async function isReadSince({ sql }: Database, senderId: string, since: Date): Promise<boolean> {
  const [row] = await sql.query<{ is: boolean }[]>`
    select coalesce(tried_at >= ${since}, false) as is from sender_readings where sender_id = ${senderId}::uuid`;
  return row?.is ?? false;
}
