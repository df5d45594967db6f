import type { ThrottleScope } from '@onecode/domain';
import type { Database } from '../client/database.js';

/** A refusal of the provider because a limit was reached, as an attempt met it. */
export interface Refusal {
  senderId: string;
  /** When the attempt began that met it. */
  startedAt: Date;
  /** Milliseconds to wait after the first, second and further refusals in a row; the last one counts for all that follow. */
  waitsMs: readonly number[];
}

/**
 * Throttles what a refusal covers: nothing goes out until the wait is over, then single messages until one is accepted (see
 * `active_throttles`). Messages that were begun before the last refusal met the same limit, and change nothing.
 *
 * @returns whether the throttle is new: nothing that it covers was waiting for its end
 */
export async function recordThrottle(
  database: Database,
  scope: Exclude<ThrottleScope, 'recipient_window'>,
  { senderId, startedAt, waitsMs }: Refusal,
): Promise<boolean> {
  const [written] = await database.sql.query<{ refusals: number }[]>`
    with refused as (
      select sender_throttle_subject(${scope}, r.id, r.business_account_id) as subject, ${[...waitsMs]}::integer[] as waits
      from senders r where r.id = ${senderId}::uuid
    ), covered as (
      select refused.*, (
        select sum(c.throughput) * 0.9::double precision from senders c
        where sender_throttle_subject(${scope}, c.id, c.business_account_id) = refused.subject
      ) as full_rate from refused
    )
    insert into throttles as t (scope, subject, refusals, rate, throttled_at, free_at)
    select ${scope}, subject, 1, greatest(1, full_rate / 2), clock_timestamp(),
      clock_timestamp() + waits[1] * interval '1 millisecond'
    from covered
    on conflict (scope, subject) do update set
      refusals = least(t.refusals + 1, 1000),
      -- Half of the rate at which the provider refused; while single messages probe, the rate to come stays.
      rate = case when t.refusals > 0 then t.rate else greatest(1, least(
        excluded.rate, (t.rate + excluded.rate / 10 * extract(epoch from clock_timestamp() - t.recovered_at)) / 2
      )) end,
      throttled_at = excluded.throttled_at, recovered_at = null,
      free_at = clock_timestamp() + (select waits[least(t.refusals + 1, cardinality(waits))] from covered) * interval '1 millisecond'
    where t.throttled_at < ${startedAt}
    returning refusals`;
  return written?.refusals === 1;
}

/** Lets what covers a sender speed up again: the provider has accepted a message of it that was begun after the last refusal. */
export async function easeThrottles(database: Database, senderId: string, startedAt: Date): Promise<void> {
  await database.sql.execute`
    update throttles t set refusals = 0, recovered_at = clock_timestamp(), free_at = clock_timestamp()
    from senders r
    where r.id = ${senderId}::uuid and t.subject = sender_throttle_subject(t.scope, r.id, r.business_account_id) and t.refusals > 0
      and t.throttled_at < ${startedAt}`;
}

/** Closes a sender–recipient window that the provider found full: 4^n seconds and more for the nth refusal in a row. */
export async function closeRecipientWindow(
  database: Database,
  sendId: string,
  { senderId, waitsMs }: Pick<Refusal, 'senderId' | 'waitsMs'>,
): Promise<void> {
  await database.sql.execute`
    with refused as (
      select hashtextextended(s.canonical_recipient, 0) as recipient_hash, ${[...waitsMs]}::integer[] as waits
      from sends s where s.id = ${sendId}::uuid
    )
    insert into sender_recipient_windows as w (sender_id, recipient_hash, refusals, free_at)
    select ${senderId}::uuid, recipient_hash, 1, clock_timestamp() + waits[1] * interval '1 millisecond' from refused
    on conflict (sender_id, recipient_hash) do update set
      refusals = least(w.refusals + 1, 1000),
      free_at = greatest(w.free_at, clock_timestamp() +
        (select waits[least(w.refusals + 1, cardinality(waits))] from refused) * interval '1 millisecond')`;
}

/** Deletes the throttles that slow nobody down any more. */
export async function deleteOldThrottles(database: Database): Promise<number> {
  return database.sql.execute`
    delete from throttles t where not exists (
      select from active_throttles(clock_timestamp()) a where a.scope = t.scope and a.subject = t.subject
    )`;
}
