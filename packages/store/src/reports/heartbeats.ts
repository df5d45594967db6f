import type { Connection } from '../client/database.js';

/** What workers do again and again, whether anybody enqueues or not. */
export type LoopName = 'sweep' | 'wake' | 'breaker' | 'clean_up';

/** When a worker last ended a round of a loop. */
export interface Heartbeat {
  loop: LoopName;
  workerId: string;
  /** Seconds since, by the database's clock. */
  secondsAgo: number;
}

/** Notes that a worker just ended a round of a loop. */
export async function recordHeartbeat(database: Connection, loop: LoopName, workerId: string): Promise<void> {
  await database.$executeRaw`
    insert into heartbeats (loop, worker_id) values (${loop}, ${workerId}::uuid)
    on conflict (loop, worker_id) do update set ran_at = clock_timestamp()`;
}

/** The last round of each loop of each worker that was heard of within the hour, newest first. */
export async function listHeartbeats(database: Connection): Promise<Heartbeat[]> {
  return database.$queryRaw<Heartbeat[]>`
    select loop, worker_id as "workerId", extract(epoch from clock_timestamp() - ran_at)::float8 as "secondsAgo"
    from heartbeats where ran_at > statement_timestamp() - interval '1 hour' order by ran_at desc`;
}

/** Deletes what workers noted that have long been gone. */
export async function deleteOldHeartbeats(database: Connection): Promise<void> {
  await database.$executeRaw`delete from heartbeats where ran_at < statement_timestamp() - interval '1 hour'`;
}
