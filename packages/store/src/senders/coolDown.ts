import type { Database } from '../client/database.js';

/** What a call to the provider needs of a sender. */
export interface SenderDetails {
  id: string;
  phoneNumberId: string;
  /** E.164. */
  number: string;
  sealedToken: Uint8Array;
  template: string;
  /** The language under which the English template was approved. */
  englishTemplateLanguage: 'en' | 'en_US';
  consecutiveFailures: number;
}

/** The details of all senders, paused ones too: whether one may send is decided when a slot is taken. */
export async function listSenderDetails(database: Database): Promise<SenderDetails[]> {
  return database.$queryRaw<SenderDetails[]>`
    select id, phone_number_id as "phoneNumberId", number, sealed_token as "sealedToken", template,
      english_template_language as "englishTemplateLanguage", consecutive_failures as "consecutiveFailures" from senders`;
}

/**
 * Rests a sender after a fault of its own. Faults that come in together while it rests already count once, and an operator's
 * pause stays.
 *
 * @returns whether this call began the pause
 */
export async function coolDownSender(
  database: Database,
  id: string,
  rest: { failuresBefore: number; seconds: number; reason: string },
): Promise<boolean> {
  const written = await database.$executeRaw`
    update senders set consecutive_failures = consecutive_failures + 1, paused_at = clock_timestamp(), pause_reason = ${rest.reason},
      paused_until = clock_timestamp() + make_interval(secs => ${rest.seconds})
    where id = ${id}::uuid and consecutive_failures = ${rest.failuresBefore}::integer
      and (paused_at is null or paused_until <= clock_timestamp())`;
  return written === 1;
}

/** Forgets a sender's faults, and its pause if that is over: it has just sent. */
export async function recoverSender(database: Database, id: string): Promise<void> {
  await database.$executeRaw`
    update senders set consecutive_failures = 0, paused_at = null, paused_until = null, pause_reason = null
    where id = ${id}::uuid and consecutive_failures > 0 and (paused_at is null or paused_until <= clock_timestamp())`;
}

/** Keeps a sender from messaging a country for a time. @returns whether the block is new */
export async function blockCountry(
  database: Database,
  block: { senderId: string; country: string; seconds: number; errorCode: number | null },
): Promise<boolean> {
  const written = await database.$executeRaw`
    insert into sender_country_blocks as b (sender_id, country, blocked_until, error_code)
    values (${block.senderId}::uuid, ${block.country}, clock_timestamp() + make_interval(secs => ${block.seconds}), ${block.errorCode}::integer)
    on conflict (sender_id, country) do update set blocked_until = excluded.blocked_until, error_code = excluded.error_code
    where b.blocked_until <= clock_timestamp()`;
  return written === 1;
}
