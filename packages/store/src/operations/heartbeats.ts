import type { Connection } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';

/** The loops of a worker, which run even when there is no work. */
export type LoopName = 'deliver' | 'sweep' | 'breaker' | 'clean_up';

/** When a worker last completed a run of a loop. */
export interface Heartbeat {
  loop: LoopName;
  workerId: string;
  /** Seconds since then, by the database's clock. */
  secondsAgo: number;
}

/** Records that a worker completed a run of a loop. @returns false if the worker has not reported yet that it runs */
export async function recordHeartbeat(
  { sql }: Connection,
  loop: LoopName,
  workerId: string,
): Promise<boolean> {
  const recorded = await sql.execute`
    update processes set ${Prisma.raw(`${loop}_at`)} = clock_timestamp() where id = ${workerId}::uuid`;
  return recorded === 1;
}

/** Returns the last run of each loop of each worker within the last hour, newest first. */
export async function listHeartbeats({ sql }: Connection): Promise<Heartbeat[]> {
  return sql.query<Heartbeat[]>`
    select loop, id as "workerId", extract(epoch from clock_timestamp() - ran_at)::float8 as "secondsAgo"
    from processes, lateral (
      values ('deliver', deliver_at), ('sweep', sweep_at), ('breaker', breaker_at), ('clean_up', clean_up_at)
    ) as l (loop, ran_at)
    where ran_at > statement_timestamp() - interval '1 hour' order by ran_at desc`;
}
