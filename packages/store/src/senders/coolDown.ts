import type { Locale } from '@onecode/domain';
import type { Database } from '../client/database.js';

/** What a call to the provider needs to know of a sender. */
export interface SenderDetails {
  id: string;
  phoneNumberId: string;
  /** E.164. */
  number: string;
  sealedToken: Uint8Array;
  template: string;
  /** The language code under which the English template was approved. */
  englishTemplateLanguage: 'en' | 'en_US';
  consecutiveFailures: number;
  pauseSource: StopSource | null;
  /** Whether a limit that covers it was reached, and no message was accepted since. */
  isThrottled: boolean;
  /** When it was last paused or throttled, if that has not ended: no message that was begun before may go out. */
  stoppedAt: Date | null;
  /** By language, the latest stop for a fault of the template there, ended or not. */
  languageStops: Partial<Record<Locale, LanguageStopState>>;
}

/** A stop for a language, as a call needs to know of it. */
export interface LanguageStopState {
  consecutiveFailures: number;
  source: StopSource;
  stoppedAt: Date;
}

/** How we know that a sender cannot send: an operator said so, or the provider did, in one of its ways. */
export type StopSource = 'operator' | 'answer' | 'receipt' | 'webhook' | 'read';

/** The details of all senders, paused ones too: `take_send_slots` decides which of them may send. */
export async function listSenderDetails(database: Database): Promise<SenderDetails[]> {
  const rows = await database.sql.query<
    (Omit<SenderDetails, 'languageStops'> & { stops: LanguageStopRow[] })[]
  >`
    select id, phone_number_id as "phoneNumberId", number, sealed_token as "sealedToken", template,
      english_template_language as "englishTemplateLanguage", consecutive_failures as "consecutiveFailures",
      pause_source as "pauseSource", t.throttled_at is not null as "isThrottled", greatest(paused_at, t.throttled_at) as "stoppedAt", (
        select coalesce(jsonb_agg(to_jsonb(l)), '[]') from sender_language_stops l where l.sender_id = r.id
      ) as stops
    from senders r cross join lateral (
      select max(t.throttled_at) as throttled_at from throttles t
      where t.refusals > 0 and t.subject = sender_throttle_subject(t.scope, r.id, r.business_account_id)
    ) t`;
  return rows.map(({ stops, ...sender }) => ({
    ...sender,
    languageStops: Object.fromEntries(
      stops.map(({ locale, consecutive_failures: consecutiveFailures, source, stopped_at: stoppedAt }) => [
        locale,
        { consecutiveFailures, source, stoppedAt: new Date(stoppedAt) },
      ]),
    ),
  }));
}

interface LanguageStopRow {
  locale: Locale;
  consecutive_failures: number;
  source: StopSource;
  stopped_at: string;
}

/** A fault that stops a sender, as an attempt met it. */
export interface SenderFault {
  senderId: string;
  /** When the attempt began that met it. */
  startedAt: Date;
  /** Whether it stops all senders of the sender's business account. */
  isOfBusiness: boolean;
  source: 'answer' | 'receipt';
}

/**
 * Lets a sender cool down after a fault of its own, or all senders of its business account after a fault of that. An operator's pause
 * stays. Faults that arrive together count once, and so does one of a message that was begun before the last stop: receipts report such
 * faults minutes later.
 *
 * @param coolDown `failuresBefore` is the count on which `seconds` was decided: a sender whose count has changed stays as it is.
 * `sharedSeconds` is for the others of the business account, by how often in a row they were stopped
 * @returns whether this call began a cool-down
 */
export async function coolDownSender(
  database: Database,
  { senderId, startedAt, isOfBusiness, source }: SenderFault,
  coolDown: { failuresBefore: number; seconds: number; sharedSeconds: readonly number[]; reason: string },
): Promise<boolean> {
  const written = await database.sql.execute`
    update senders set consecutive_failures = consecutive_failures + 1, paused_at = clock_timestamp(), faulted_at = clock_timestamp(),
      paused_until = clock_timestamp() + make_interval(secs => case when id = ${senderId}::uuid then ${coolDown.seconds}::integer
        else (${[...coolDown.sharedSeconds]}::integer[])[least(consecutive_failures + 1, ${coolDown.sharedSeconds.length})] end),
      pause_reason = ${coolDown.reason}, pause_source = ${source}
    where (id = ${senderId}::uuid and consecutive_failures = ${coolDown.failuresBefore}::integer or ${isOfBusiness} and id <> ${senderId}::uuid
        and business_account_id = (select business_account_id from senders where id = ${senderId}::uuid))
      and (paused_at is null or paused_until <= clock_timestamp())
      and coalesce(faulted_at < ${startedAt}, true)`;
  return written > 0;
}

/** Resets a sender that has just sent: its consecutive failures, and its cool-down if that is over. */
export async function recoverSender(database: Database, id: string): Promise<void> {
  await database.sql.execute`
    update senders set consecutive_failures = 0, paused_at = null, paused_until = null, pause_reason = null, pause_source = null
    where id = ${id}::uuid and consecutive_failures > 0 and (paused_at is null or paused_until <= clock_timestamp())`;
}

/** Blocks a sender's messages to a country for a time. @returns whether the block is new */
export async function blockCountry(
  database: Database,
  block: { senderId: string; country: string; seconds: number; errorCode: number | null },
): Promise<boolean> {
  const written = await database.sql.execute`
    insert into sender_country_blocks as b (sender_id, country, blocked_until, error_code)
    values (${block.senderId}::uuid, ${block.country}, clock_timestamp() + make_interval(secs => ${block.seconds}), ${block.errorCode}::integer)
    on conflict (sender_id, country) do update set blocked_until = excluded.blocked_until, error_code = excluded.error_code
    where b.blocked_until <= clock_timestamp()`;
  return written === 1;
}

/**
 * Deletes sender–recipient windows that are wholly free again, up to `limit`. Skips rows that are locked.
 *
 * @returns how many
 */
export async function deleteOldSenderRecipientWindows(database: Database, limit: number): Promise<number> {
  return database.sql.execute`
    delete from sender_recipient_windows where ctid = any(array(
      select ctid from sender_recipient_windows
      where free_at <= statement_timestamp() - recipient_window_burst() limit ${limit} for update skip locked
    ))`;
}
