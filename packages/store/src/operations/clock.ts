import type { Database } from '../client/database.js';

/** How far this machine's clock is ahead of the database's, in milliseconds, less what the round trip may have taken. */
export async function readClock({ sql }: Database): Promise<number> {
  const before = Date.now();
  const [row] = await sql.query<[{ ms: number }]>`
    select extract(epoch from clock_timestamp())::float8 * 1000 as ms`;
  // It says whole milliseconds, and more have passed.
  const after = Date.now() + 1;
  if (row.ms < before) return before - row.ms;
  return row.ms > after ? after - row.ms : 0;
}
