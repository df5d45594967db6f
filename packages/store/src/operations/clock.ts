import type { Database } from '../client/database.js';

/**
 * Returns by how many milliseconds this machine's clock is certainly ahead of the database's (negative if it is behind), despite the
 * duration of the round trip.
 */
export async function readClock({ sql }: Database): Promise<number> {
  const before = Date.now();
  const [row] = await sql.query<[{ ms: number }]>`
    select extract(epoch from clock_timestamp())::float8 * 1000 as ms`;
  // `Date.now()` is truncated to whole milliseconds.
  const after = Date.now() + 1;
  if (row.ms < before) return before - row.ms;
  return row.ms > after ? after - row.ms : 0;
}
