import { withUsage } from './load/load.mjs';
import { connect } from './environment.mjs';
import { createMigrated, packagesOf, WORKING_TREE } from './targets/onecode.mjs';

/** A simulated year: the sends of each week are written, and then old sends are masked or deleted. */

export const goal =
  'the size of the database over a year at a constant rate, while retention keeps a quarter';

const WEEKS = 52;
const QUARTER = WEEKS / 4;
const NUMBERS_DAYS = 30;
/** PostgreSQL's default thresholds of autovacuum: rows, and the share of all rows. */
const DEAD = { rows: 50, part: 0.2 };
const GROWN_MAX = 1.05;
const SIZES = `
  select c.relname as table, pg_table_size(c.oid)::float8 as table_bytes, pg_indexes_size(c.oid)::float8 as index_bytes
  from pg_class c where c.oid = any(array['sends', 'attempts', 'ledger_entries']::regclass[]) order by 1`;

/**
 * @param {import('./environment.mjs').Environment} environment
 * @param {import('./run.mjs').Options} options
 * @returns {Promise<import('./run.mjs').Result>}
 */
export async function measure(environment, { past }) {
  const url = await createMigrated(environment, WORKING_TREE, 'onecode_year');
  const { store, testing } = await packagesOf(WORKING_TREE);
  const handle = store.openDatabase(url, { connectionsMax: 4 });
  const client = await connect(url);
  const { id: senderId } = await testing.buildSender(handle);
  const caller = await testing.buildCaller(handle, 'live');
  const perWeek = Math.round(past / WEEKS);
  const total = { masked: 0, deleted: 0, ms: 0, cpuMs: 0, walBytes: 0 };
  const weeks = [];
  let [kept, dead, vacuums] = [0, 0, 0];
  for (let week = 1; week <= WEEKS; week++) {
    const daysLeft = 7 * (WEEKS - week);
    await testing.fillHistory(url, {
      applications: [caller],
      senderId,
      numberPepper: testing.TEST_NUMBER_PEPPER,
      sends: perWeek,
      days: 7,
      endedDaysAgo: daysLeft,
    });
    await client.query('update settings set retain_numbers_days = $1, retain_sends_days = $2', [
      daysLeft + NUMBERS_DAYS,
      daysLeft + 7 * QUARTER,
    ]);
    const beganAt = performance.now();
    const { result, usage } = await withUsage(environment, {}, () =>
      store.applyRetention(handle, new AbortController().signal),
    );
    total.ms += performance.now() - beganAt;
    total.masked += result.numbersReplaced;
    total.deleted += result.sendsDeleted;
    total.cpuMs += usage.cpuMs['postgres'] ?? 0;
    total.walBytes += usage.walBytes;
    kept += perWeek - result.sendsDeleted;
    dead += result.numbersReplaced + result.sendsDeleted;
    if (dead > DEAD.rows + DEAD.part * kept) {
      await client.query('vacuum (analyze) sends, attempts, ledger_entries');
      [dead, vacuums] = [0, vacuums + 1];
    }
    const { rows } = await client.query(SIZES);
    weeks.push({ week, kept, tables: rows });
  }
  await client.end();
  await store.closeDatabase(handle);

  const grown = bytesOf(weeks.at(-1)) / bytesOf(weeks[WEEKS / 2 - 1]);
  const changes = total.masked + total.deleted;
  return {
    tables: [
      weeks.filter(({ week }) => week % QUARTER === 0).map(lineOf),
      [
        {
          what: 'retention',
          masked: String(total.masked),
          deleted: String(total.deleted),
          'a second': ((changes / total.ms) * 1000).toFixed(0),
          'postgres µs': ((total.cpuMs * 1000) / changes).toFixed(0),
          'WAL kB': (total.walBytes / changes / 1000).toFixed(1),
          vacuums: String(vacuums),
        },
      ],
      [{ what: 'sends and attempts: bytes after the year, times after half of it', found: grown.toFixed(3) }],
    ],
    missed: grown <= GROWN_MAX ? [] : ['sends and attempts: bytes after the year'],
    details: { perWeek, weeks, total, vacuums, grown },
  };
}

/**
 * @typedef {object} Week
 * @property {number} week
 * @property {number} kept sends
 * @property {{ table: string, table_bytes: number, index_bytes: number }[]} tables
 */

/**
 * The ledger grows permanently, because it records all charges.
 * @param {Week | undefined} week
 */
const bytesOf = (week) =>
  (week?.tables ?? [])
    .filter(({ table }) => table !== 'ledger_entries')
    .reduce((sum, { table_bytes, index_bytes }) => sum + table_bytes + index_bytes, 0);

/**
 * @param {Week} week
 * @returns {import('./run.mjs').Line}
 */
const lineOf = ({ week, kept, tables }) => ({
  what: `week ${week}`,
  sends: String(kept),
  ...Object.fromEntries(
    tables.flatMap(({ table, table_bytes, index_bytes }) => [
      [`${table} MB`, (table_bytes / 1e6).toFixed(1)],
      [`${table}: indexes MB`, (index_bytes / 1e6).toFixed(1)],
    ]),
  ),
});
