import type { RecentTraffic, TrafficCount, TrafficKey } from '@onecode/domain';
import type { Connection } from '../client/database.js';

/** Adds to the counts of the current ten seconds. All processes write in the same order, so that they cannot deadlock. */
export async function addTraffic(database: Connection, counts: readonly TrafficCount[]): Promise<void> {
  if (counts.length === 0) return;
  await database.sql.execute`
    insert into traffic_counts as t (began_at, event, country, sender_id, account_id, reason, count)
    select date_bin('10 seconds', statement_timestamp(), 'epoch'), event, country, "senderId", "accountId", reason, sum(count)
    from jsonb_to_recordset(${JSON.stringify(counts)}::jsonb)
      as c (event text, country text, "senderId" text, "accountId" text, reason text, count bigint)
    group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
    on conflict (began_at, event, country, sender_id, account_id, reason) do update set count = t.count + excluded.count`;
}

/** Merges the counts of spans older than a quarter of an hour into one, for all accounts; the total does not change. */
export async function mergeOldTraffic(database: Connection): Promise<void> {
  await database.sql.execute`
    with old as (
      delete from traffic_counts
      where began_at > '-infinity' and began_at < statement_timestamp() - interval '15 minutes' returning *
    )
    insert into traffic_counts as t (began_at, event, country, sender_id, account_id, reason, count)
    select '-infinity', event, country, sender_id, '', reason, sum(count)
    from old group by 2, 3, 4, 6 order by 2, 3, 4, 6
    on conflict (began_at, event, country, sender_id, account_id, reason) do update set count = t.count + excluded.count`;
}

/** A total since the first start of the service, which never decreases. */
export type TrafficTotal = Omit<TrafficCount, 'senderId' | 'accountId'>;

/** The receipts of newer messages may still be on their way. */
const RECEIPT_SPAN = '20 seconds';

/** Returns all totals, and the counts of the last minutes. */
export async function readTraffic(
  database: Connection,
): Promise<RecentTraffic & { totals: readonly TrafficTotal[] }> {
  const [totals, recent] = await Promise.all([
    database.sql.query<TrafficTotal[]>`
      select event, country, reason, sum(count)::float8 as count from traffic_counts group by 1, 2, 3 order by 1, 2, 3`,
    database.sql.query<(TrafficCount & { isOfTwoMinutes: boolean })[]>`
      select event, country, sender_id as "senderId", account_id as "accountId", reason, sum(count)::float8 as count,
        began_at > statement_timestamp() - interval '2 minutes' as "isOfTwoMinutes"
      from traffic_counts where began_at > statement_timestamp() - interval '5 minutes'
        and (event <> 'accepted' or began_at <= statement_timestamp() - ${RECEIPT_SPAN}::interval) group by 1, 2, 3, 4, 5, 7`,
  ]);
  const within = (rows: typeof recent): TrafficCount[] =>
    rows.map(({ isOfTwoMinutes: _isOfTwoMinutes, ...count }) => count);
  return {
    totals,
    fiveMinutes: within(recent),
    twoMinutes: within(recent.filter(({ isOfTwoMinutes }) => isOfTwoMinutes)),
  };
}

/** Counts of this process that are not written yet. A killed process loses them. */
export interface TrafficCounter {
  count(key: TrafficKey): void;
  /** Adds the counts to the database's. @throws the database's error; these counts are lost */
  flush(database: Connection): Promise<void>;
}

export function createTrafficCounter(): TrafficCounter {
  const counts = new Map<string, TrafficCount>();
  return {
    count(key) {
      const name = JSON.stringify([key.event, key.country, key.senderId, key.accountId, key.reason]);
      counts.set(name, { ...key, count: (counts.get(name)?.count ?? 0) + 1 });
    },
    async flush(database) {
      const taken = [...counts.values()];
      counts.clear();
      await addTraffic(database, taken);
    },
  };
}
