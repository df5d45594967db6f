import type { Connection } from './database.js';

/** What workers do again and again, whether anybody rings or not. */
export type LoopName = 'sweep' | 'wake' | 'breaker' | 'clean_up';

/** When a worker last ended a round of a loop. */
export interface LoopRun {
  loop: LoopName;
  workerId: string;
  /** Seconds since, by the database's clock. */
  secondsAgo: number;
}

/** Notes that a worker just ended a round of a loop. */
export async function noteLoopRun(database: Connection, loop: LoopName, workerId: string): Promise<void> {
  await database.$executeRaw`
    insert into loop_runs (loop, worker_id) values (${loop}, ${workerId}::uuid)
    on conflict (loop, worker_id) do update set ran_at = clock_timestamp()`;
}

/** The last round of each loop of each worker that was heard of within the hour, newest first. */
export async function listLoopRuns(database: Connection): Promise<LoopRun[]> {
  return database.$queryRaw<LoopRun[]>`
    select loop, worker_id as "workerId", extract(epoch from clock_timestamp() - ran_at)::float8 as "secondsAgo"
    from loop_runs where ran_at > statement_timestamp() - interval '1 hour' order by ran_at desc`;
}

/** Deletes what workers noted that have long been gone. */
export async function deleteOldLoopRuns(database: Connection): Promise<void> {
  await database.$executeRaw`delete from loop_runs where ran_at < statement_timestamp() - interval '1 hour'`;
}
