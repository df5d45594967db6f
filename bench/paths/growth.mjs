import { setTimeout as delay } from 'node:timers/promises';

/** @typedef {import('./suite.mjs').Bench} Bench */

/** Tables and indexes of what grows with the sends. */
const SIZES = `
  select c.relname as table, pg_table_size(c.oid)::float8 as table_bytes, pg_indexes_size(c.oid)::float8 as index_bytes,
    (select count(*)::float8 from sends) as sends
  from pg_class c where c.oid = any(array['sends', 'attempts', 'ledger_entries', 'receipts']::regclass[]) order by 1`;
const READ = `
  select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::float8 as read from pg_stat_user_tables
  where relname in ('sends', 'attempts', 'ledger_entries', 'receipts')`;
const IDLE_MS = 5_000;
/** What a session has counted reaches the statistics within a second. */
const STATISTICS_MS = 1_500;

/**
 * What a send takes in the filled database, and what a worker with nothing to do reads there.
 * @param {Bench} bench
 * @returns {Promise<{ sizes: { table: string, tableBytes: number, indexBytes: number }[], idleReads: number } | null>}
 *   bytes a send; rows read in a second; null without a filled database
 */
export async function growth({ contenders, provider, options }) {
  const filled = contenders.find(({ name }) => name.includes(' rows'));
  if (options.rows === 0 || filled === undefined) return null;
  const worker = await filled.startWorker(provider.url, 50);
  await delay(STATISTICS_MS);
  const read = async () => Number((await filled.pool.query(READ)).rows[0].read);
  const before = await read();
  await delay(IDLE_MS);
  await delay(STATISTICS_MS);
  const idleReads = (await read()) - before;
  await worker.stop();
  // After the rows were counted: these sizes take a look at every send.
  const { rows } = await filled.pool.query(SIZES);
  return {
    sizes: rows.map(({ table, table_bytes, index_bytes, sends }) => ({
      table,
      tableBytes: table_bytes / sends,
      indexBytes: index_bytes / sends,
    })),
    idleReads: idleReads / ((IDLE_MS + STATISTICS_MS) / 1000),
  };
}
