import { setTimeout as delay } from 'node:timers/promises';
import { fullLoad, steadyLoad, withUsage } from '../load/load.mjs';
import { residentMiBOf } from '../machine.mjs';
import { median } from '../statistics.mjs';
import { openOnecode, WORKING_TREE } from '../targets/onecode.mjs';
import { creations } from '../targets/target.mjs';
import { loadEndToEnd, resetProvider } from './worker.mjs';

/** Resources of the processes and the database: time to start and to become fast, memory, bytes and rows. */

/** @typedef {import('./suite.mjs').Context} Context */

const STARTS = 5;
const FIRST_MINUTE_SECONDS = 60;
const STEADY_SECONDS = 20;
const WORST_SECONDS = 3;
const CREATIONS_PER_SECOND = 500;
/** The requests of a long load are repeated, so they have no idempotency keys. */
const REQUESTS_MAX = 30_000;
const SAMPLE_MS = 1_000;
const IDLE_MS = 5_000;
/** A session's counts reach the statistics within a second. */
const STATISTICS_MS = 1_500;

const WORKING_SET_SECONDS = 10;
const LARGEST = 8;
/** Share of all sends. Autovacuum waits for a fifth. */
const DELETED_PART = 0.02;

/** The tables that grow with the sends, with their indexes. */
const SIZES = `
  select c.relname as table, pg_table_size(c.oid)::float8 as table_bytes, pg_indexes_size(c.oid)::float8 as index_bytes,
    (select count(*)::float8 from sends) as sends
  from pg_class c where c.relname in ('sends', 'attempts', 'ledger_entries', 'receipts', 'provider_reports') order by 1`;
const ROWS_READ = `
  select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::float8 as read from pg_stat_user_tables
  where relname in ('sends', 'attempts', 'ledger_entries', 'receipts', 'provider_reports')`;
/** Returns the tables and indexes of this database in shared memory, with their size on disk. */
const IN_MEMORY = `
  select c.relname as name, count(*) * 8192::float8 as bytes, pg_relation_size(c.oid)::float8 as of_bytes
  from pg_buffercache b join pg_class c on b.relfilenode = pg_relation_filenode(c.oid)
  where b.reldatabase = (select oid from pg_database where datname = current_database())
  group by c.oid, c.relname order by bytes desc limit ${LARGEST}`;
const CREATED = `select sum(sends_created)::float8 as created from applications`;
const DELETE_OLDEST = `
  with old as materialized (select id from sends order by id limit $1), gone as (
    delete from attempts where send_id = any(array(select id from old))
  ) delete from sends where id = any(array(select id from old))`;

/**
 * The time from `node` starting until the API is ready.
 * @param {Context} context
 * @returns {Promise<{ target: string, startMs: number }[]>} medians
 */
export async function measureStart({ targets }) {
  const starts = [];
  for (const { name, startApi } of targets) {
    const times = [];
    for (let start = 0; start < STARTS; start++) {
      const api = await startApi();
      times.push(api.startMs);
      await api.stop();
    }
    starts.push({ target: name, startMs: median(times) });
  }
  return starts;
}

/**
 * @typedef {object} FirstMinute
 * @property {number} worstPerSecond the mean of the three worst seconds
 * @property {number} steadyPerSecond the median of the last 20 seconds
 * @property {number} sends in the database at the end
 * @property {number[]} inSecond creations in each second
 */

/**
 * Measures creations by a process that has just started, in a database that has just been migrated: no code is compiled, and PostgreSQL has
 * no statistics of the tables yet.
 * @param {Context} context
 * @returns {Promise<FirstMinute>}
 */
export async function measureFirstMinute({ environment, flushRedis }) {
  const target = await openOnecode(environment, WORKING_TREE, 'onecode_first_minute', 0);
  const { api, keys, pool } = target;
  const load = fullLoad(
    environment,
    { url: api.url, pids: {} },
    { requests: (count) => creations(keys, count, true), isRepeatable: true, warmUpSeconds: 0 },
  );
  const { inSecond = [] } = await load(FIRST_MINUTE_SECONDS);
  const { rows } = await pool.query('select count(*)::integer as sends from sends');
  await api.stop();
  await target.close();
  await flushRedis();
  const worst = inSecond.toSorted((a, b) => a - b).slice(0, WORST_SECONDS);
  return {
    worstPerSecond: worst.reduce((sum, count) => sum + count, 0) / WORST_SECONDS,
    steadyPerSecond: median(inSecond.slice(-STEADY_SECONDS)),
    sends: rows[0].sends,
    inSecond,
  };
}

/**
 * @typedef {object} Memory
 * @property {string} process
 * @property {number} maxMiB
 * @property {number} grownMiB from the second quarter of the time to the last, on average
 */

/**
 * The resident memory of API and worker under a steady load of creations and deliveries.
 * @param {Context} context
 * @returns {Promise<Memory[]>}
 */
export async function measureMemory({ environment, options, targets, provider, flushRedis }) {
  const [onecode] = targets;
  if (onecode === undefined) return [];
  await onecode.clear();
  await resetProvider(provider.url, 0);
  const [api, worker] = [await onecode.startApi(), await onecode.startWorker(provider.url, 50)];
  const seconds = options.minutes * 60;
  const requests = creations(onecode.keys, Math.min(REQUESTS_MAX, CREATIONS_PER_SECOND * seconds), false);
  const samples = /** @type {Record<'api' | 'worker', number[]>} */ ({ api: [], worker: [] });
  const end = new AbortController();
  const sample = async () => {
    while (!end.signal.aborted) {
      samples.api.push(residentMiBOf(api.pid));
      samples.worker.push(residentMiBOf(worker.pid));
      await delay(SAMPLE_MS, undefined, { signal: end.signal }).catch(() => {});
    }
  };
  const sampled = sample();
  const endpoint = { url: api.url, pids: { api: api.pid, worker: worker.pid } };
  await steadyLoad(environment, endpoint, { requests, perSecond: CREATIONS_PER_SECOND, seconds });
  end.abort();
  await sampled;
  await Promise.all([api.stop(), worker.stop()]);
  await onecode.clear();
  await flushRedis();
  return Object.entries(samples).map(([process, values]) => {
    const quarter = Math.ceil(values.length / 4);
    const mean = (/** @type {number[]} */ some) => some.reduce((sum, value) => sum + value, 0) / some.length;
    return {
      process,
      maxMiB: Math.max(...values),
      grownMiB: mean(values.slice(-quarter)) - mean(values.slice(quarter, 2 * quarter)),
    };
  });
}

/**
 * @typedef {object} Growth
 * @property {{ table: string, tableBytes: number, indexBytes: number }[]} sizes bytes of one send
 * @property {number} idleRowsPerSecond rows that an idle worker reads
 * @property {{ sends: number, parts: { name: string, bytes: number, ofBytes: number }[] }} workingSet what so many sends end to end touch
 * @property {{ deleted: number, cpuMs: number, walBytes: number }} vacuum of the sends, after so many of them were deleted
 */

/**
 * Measures the size of a send in the filled database, the rows that an idle worker reads there, the part of it that sends touch, and its
 * vacuum.
 * @param {Context} context
 * @returns {Promise<Growth | null>} null without a filled database
 */
export async function measureGrowth(context) {
  const { environment, targets, provider, options } = context;
  const filled = targets.find(({ name }) => name.includes(' rows'));
  if (options.rows === 0 || filled === undefined) return null;
  const { pool } = filled;
  const worker = await filled.startWorker(provider.url, 50);
  await delay(STATISTICS_MS);
  const read = async (/** @type {string} */ query) =>
    Number(Object.values((await pool.query(query)).rows[0])[0]);
  const before = await read(ROWS_READ);
  await delay(IDLE_MS);
  await delay(STATISTICS_MS);
  const rowsRead = (await read(ROWS_READ)) - before;
  await worker.stop();
  // Last, because this query reads every send.
  const { rows: sizes } = await pool.query(SIZES);

  await pool.query('create extension if not exists pg_buffercache');
  const createdBefore = await read(CREATED);
  await pool.query('select pg_buffercache_evict_all()');
  await loadEndToEnd(context, filled, WORKING_SET_SECONDS);
  const { rows: parts } = await pool.query(IN_MEMORY);
  const sends = (await read(CREATED)) - createdBefore;
  await filled.clear();

  const deleted = Math.round(DELETED_PART * options.rows);
  await pool.query(DELETE_OLDEST, [deleted]);
  const { usage } = await withUsage(environment, {}, () => pool.query('vacuum (index_cleanup on) sends'));
  return {
    sizes: sizes.map(({ table, table_bytes, index_bytes, sends: all }) => ({
      table,
      tableBytes: table_bytes / all,
      indexBytes: index_bytes / all,
    })),
    idleRowsPerSecond: rowsRead / ((IDLE_MS + STATISTICS_MS) / 1000),
    workingSet: {
      sends,
      parts: parts.map(({ name, bytes, of_bytes: ofBytes }) => ({ name, bytes, ofBytes })),
    },
    vacuum: { deleted, cpuMs: usage.cpuMs['postgres'] ?? 0, walBytes: usage.walBytes },
  };
}
