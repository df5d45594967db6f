import type { Locale } from '@onecode/domain';
import type { Database } from '../client/database.js';
import type { SenderFault } from './coolDown.js';

/** A fault of a sender's template in one language, as an attempt met it. */
export type TemplateFault = Pick<SenderFault, 'senderId' | 'startedAt' | 'source'> & { locale: Locale };

/**
 * Stops a sender for a language after a fault of its template there. Faults that arrive together count once, and so does one of a message
 * that was begun before the last stop. A stop by the provider's own word about the template stays.
 *
 * @param stop `failuresBefore` is the count on which `seconds` was decided: a stop whose count has changed stays as it is
 * @returns whether this call began the stop
 */
export async function stopLanguage(
  database: Database,
  { senderId, startedAt, source, locale }: TemplateFault,
  stop: { failuresBefore: number; seconds: number; errorCode: number | null; reason: string },
): Promise<boolean> {
  const written = await database.sql.execute`
    insert into sender_language_stops as l (sender_id, locale, code, source, reason, consecutive_failures, stopped_at, stopped_until)
    select ${senderId}::uuid, ${locale}, ${stop.errorCode}::integer, ${source}, ${stop.reason}, 1, n.now,
      n.now + make_interval(secs => ${stop.seconds})
    from (select clock_timestamp() as now) n
    on conflict (sender_id, locale) do update set code = excluded.code, source = excluded.source, reason = excluded.reason,
      consecutive_failures = l.consecutive_failures + 1, stopped_at = excluded.stopped_at, stopped_until = excluded.stopped_until
    where l.consecutive_failures = ${stop.failuresBefore}::integer and l.stopped_until <= clock_timestamp()
      and l.stopped_at < ${startedAt}`;
  return written === 1;
}

/** Forgets the faults of a sender's template in a language whose stop is over: a message in it has gone out. */
export async function recoverLanguage(database: Database, senderId: string, locale: Locale): Promise<void> {
  await database.sql.execute`
    update sender_language_stops set consecutive_failures = 0
    where sender_id = ${senderId}::uuid and locale = ${locale} and consecutive_failures > 0 and stopped_until <= clock_timestamp()`;
}
