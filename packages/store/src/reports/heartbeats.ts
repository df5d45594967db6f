import type { Connection } from '../client/database.js';

/** The loops of a worker, which run whether there is work or not. */
export type LoopName = 'deliver' | 'sweep' | 'breaker' | 'clean_up';

/** When a worker last completed a round of a loop. */
export interface Heartbeat {
  loop: LoopName;
  workerId: string;
  /** Seconds since, by the database's clock. */
  secondsAgo: number;
}

/** Records that a worker just completed a round of a loop. */
export async function recordHeartbeat(database: Connection, loop: LoopName, workerId: string): Promise<void> {
  await database.sql.execute`
    insert into heartbeats (loop, worker_id) values (${loop}, ${workerId}::uuid)
    on conflict (loop, worker_id) do update set ran_at = clock_timestamp()`;
}

/** The last round of each loop of each worker within the last hour, newest first. */
export async function listHeartbeats(database: Connection): Promise<Heartbeat[]> {
  return database.sql.query<Heartbeat[]>`
    select loop, worker_id as "workerId", extract(epoch from clock_timestamp() - ran_at)::float8 as "secondsAgo"
    from heartbeats where ran_at > statement_timestamp() - interval '1 hour' order by ran_at desc`;
}

/** Deletes the heartbeats of workers that stopped long ago. */
export async function deleteOldHeartbeats(database: Connection): Promise<void> {
  await database.sql.execute`delete from heartbeats where ran_at < statement_timestamp() - interval '1 hour'`;
}
