import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { freePort } from '../../scripts/services/ports.mjs';
import { UserError } from '../../scripts/user-error.mjs';
import { root, runNpm } from '../../scripts/checkout.mjs';
import { buildCommit, commitOf, readAtCommit } from '../../scripts/build-commit.mjs';
import { createDatabase, runSql, startService } from '../environment.mjs';
import { roundRobin, runConcurrently } from '../scheduling.mjs';
import { ACCOUNTS, BEFORE, CODE, nextRecipient, PROVIDER_PATH, SETTLED_TOGETHER } from './target.mjs';

const SENDERS = 10;
/** A third of Prometheus's scrape interval. */
const SCRAPE_MS = 5_000;
const JOBS_MAX = 1_000;
const HISTORY_SENDS_MAX = 100_000;
/** The distribution of a year's sends by the hour of the day and the day of the week. */
const HISTORY_DAYS = 365;
const UNLIMITED = { freeQuota: 0, credits: 500_000_000, ratePerMinute: 1_000_000 };
const SENDS_CREATED_TOGETHER = 1_000;
const WORKERS = 4;
const FILLERS = 2;
/** The exports of a build's store that the benchmark uses. */
const STORE_EXPORTS = ['./client', './sends'];

/** Updates sends like a worker after the provider has accepted their messages. */
const ACCEPT = `
  with accepted as (
    update sends s set status = 'sent', phase = 'unconfirmed', channel = 'whatsapp', from_number = r.number, sender_id = r.id, attempts = 1, attempt_number = 1,
      due_at = null, sent_at = clock_timestamp(), version = version + 2
    from unnest($1::uuid[], $2::text[]) as created (id, message_id), (select id, number from senders order by id limit 1) r
    where s.id = created.id returning s.id, s.sender_id, created.message_id
  ) insert into attempts (send_id, number, sender_id, outcome, message_id, started_at, finished_at)
    select id, 1, sender_id, 'accepted', message_id, clock_timestamp(), clock_timestamp() from accepted`;

/**
 * @typedef {import('../environment.mjs').Environment} Environment
 * @typedef {import('./target.mjs').Target} Target
 *
 * @typedef {object} Release  a build of Onecode
 * @property {string} name
 * @property {string} folder
 *
 * @typedef {Awaited<ReturnType<typeof packagesOf>>} Packages
 */

/** @type {Release} */
export const WORKING_TREE = { name: 'Onecode', folder: root };

/**
 * Builds another revision, to be measured next to the working tree.
 * @param {Environment} environment
 * @param {string} ref a git revision
 * @returns {Promise<Release>}
 */
export async function buildRevision({ processes }, ref) {
  const commit = commitOf(ref);
  if (commit === null) throw new UserError(`--beside: git has no revision ${ref} here.`);
  const { exports = {} } = JSON.parse(readAtCommit(commit, 'packages/store/package.json'));
  const missing = STORE_EXPORTS.filter((name) => !Object.hasOwn(Object(exports), name));
  if (missing.length > 0)
    throw new UserError(
      `--beside: the benchmark cannot load ${ref} (${commit.slice(0, 7)}), because its packages/store lacks the exports ` +
        `${missing.map((name) => `"${name}"`).join(' and ')}. Name a later commit.`,
    );
  console.log(`Building ${ref} (${commit.slice(0, 7)}) …`);
  return { name: BEFORE, folder: await buildCommit(commit, processes.folder) };
}

/**
 * Returns the packages of a release's build, with statements that fit its schema.
 * @param {Release} release
 */
export async function packagesOf({ folder }) {
  const { resolve } = createRequire(join(folder, 'package.json'));
  const load = (/** @type {string} */ name) => import(pathToFileURL(resolve(name)).href);
  return {
    store: /** @type {typeof import('@onecode/store/client') & typeof import('@onecode/store/sends')} */ ({
      ...(await load('@onecode/store/client')),
      ...(await load('@onecode/store/sends')),
    }),
    testing: /** @type {typeof import('@onecode/testing')} */ (await load('@onecode/testing')),
    runtime: /** @type {typeof import('@onecode/runtime')} */ (await load('@onecode/runtime')),
    whatsapp: /** @type {typeof import('@onecode/whatsapp')} */ (await load('@onecode/whatsapp')),
  };
}

/**
 * Starts a build with its own migrated database, in which each account has a live key.
 * @param {Environment} environment
 * @param {Release} release
 * @param {string} database its name
 * @param {number} rows sends of these accounts that are there from the start
 * @param {object} [options]
 * @param {number} [options.accounts] how many
 * @param {number} [options.endedDaysAgo] between the last of the rows and now
 * @returns {Promise<Target>}
 */
export async function openOnecode(
  environment,
  release,
  database,
  rows,
  { accounts = ACCOUNTS, endedDaysAgo = 0 } = {},
) {
  const url = await createMigrated(environment, release, database);
  const { store, testing, runtime, whatsapp } = await packagesOf(release);
  const handle = store.openDatabase(url, { connectionsMax: 10 });
  const callers = await runConcurrently(accounts, 10, () => testing.buildCaller(handle, 'live', UNLIMITED));
  const sender = await testing.buildSender(handle, { throughput: 1000 });
  for (let count = 1; count < SENDERS; count++) await testing.buildSender(handle, { throughput: 1000 });
  // Each filler writes its sends in the order of their times. No two fillers write the same account.
  const parts = Math.ceil(rows / HISTORY_SENDS_MAX / FILLERS);
  await runConcurrently(FILLERS, FILLERS, async (filler) => {
    const applications = callers.filter((_, index) => index % FILLERS === filler);
    for (let part = 0; part < parts; part++)
      await testing.fillHistory(url, {
        applications,
        senderId: sender.id,
        numberPepper: testing.TEST_NUMBER_PEPPER,
        sends: Math.ceil(rows / FILLERS / parts),
        days: HISTORY_DAYS / parts,
        endedDaysAgo: endedDaysAgo + (HISTORY_DAYS / parts) * (parts - 1 - part),
      });
  });
  // Otherwise PostgreSQL would vacuum and write these pages during the first measurements.
  if (rows > 0) await runSql(url, 'vacuum (analyze)', 'checkpoint');

  const secret = randomBytes(16).toString('hex');
  const prefix = database;
  const env = {
    DATABASE_URL: url,
    REDIS_URL: environment.redisUrl,
    QUEUE_PREFIX: prefix,
    BASE_URL: 'http://localhost:3000',
    CODE_PEPPER: testing.TEST_PEPPER.keys.get(1)?.toString('base64'),
    SECRET_KEY: testing.TEST_SECRET_KEY.keys.get(1)?.toString('base64'),
    WHATSAPP_APP_SECRET: secret,
    WHATSAPP_VERIFY_TOKEN: randomBytes(16).toString('hex'),
    ...(process.env['LOG_LEVEL'] && { LOG_LEVEL: process.env['LOG_LEVEL'] }),
    // With tracing where OTEL_EXPORTER_OTLP_ENDPOINT is set.
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('OTEL_'))),
  };
  const scriptPath = (/** @type {string} */ app) => join(release.folder, `apps/${app}/dist/main.js`);
  const startApi = (/** @type {NodeJS.ProcessEnv} */ settings = {}) =>
    startService(environment, {
      name: `${database}-api`,
      script: scriptPath('api'),
      env: { ...env, ...settings },
    });
  const metricsPort = await freePort();
  const api = await startApi({ METRICS_PORT: String(metricsPort) });
  const stopScraping = scrape(`http://127.0.0.1:${metricsPort}/metrics`);
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on('error', () => {}); // an interrupt stops the services first
  const sends = sendsOf(pool, handle, callers, { store, testing, whatsapp });
  // The queues of another revision, named by `--beside`, may have the older name and older options.
  const { openDeliveryQueue = runtime.openQueues } =
    /** @type {{ openDeliveryQueue?: typeof runtime.openQueues }} */ (runtime);
  const queueOptions = {
    REDIS_URL: environment.redisUrl,
    QUEUE_PREFIX: prefix,
    redisUrl: environment.redisUrl,
    prefix,
    onError: () => {},
  };
  const deliveryQueue = openDeliveryQueue(queueOptions);

  return {
    name: rows === 0 ? release.name : `${release.name}, ${rows} rows`,
    api,
    startApi,
    secret,
    databaseUrl: url,
    pool,
    keys: callers.map(({ key }) => key),
    startWorker: (providerUrl, concurrency) =>
      startService(environment, {
        name: `${database}-worker`,
        script: scriptPath('worker'),
        env: {
          ...env,
          WHATSAPP_API_URL: providerUrl + PROVIDER_PATH,
          DELIVERY_CONCURRENCY: String(concurrency),
        },
        port: 'METRICS_PORT',
      }),
    ...sends,
    async createEnqueuedSends(count) {
      const created = await sends.createSends(count);
      for (let start = 0; start < count; start += JOBS_MAX) {
        const jobs = created.slice(start, start + JOBS_MAX);
        const accepted = await Promise.all(jobs.map(({ id }) => deliveryQueue.enqueue('deliver', id)));
        if (accepted.includes(false)) throw new Error('Redis did not take the jobs.');
      }
    },
    async close() {
      stopScraping();
      await deliveryQueue.close();
      await store.closeDatabase(handle);
      await pool.end();
    },
  };
}

/**
 * @param {Environment} environment
 * @param {Release} release
 * @param {string} name
 * @returns {Promise<string>} the URL of a new database that the release has migrated
 */
export async function createMigrated(environment, release, name) {
  const url = await createDatabase(environment, name);
  await runNpm(environment.processes, ['run', '--silent', 'migrate'], {
    title: 'npm run migrate',
    env: { ...process.env, DATABASE_URL: url },
    cwd: release.folder,
  });
  return url;
}

/**
 * Reads the metrics of a process as Prometheus does, more often.
 * @param {string} url
 * @returns {() => void} ends it
 */
function scrape(url) {
  const timer = setInterval(async () => {
    const response = await fetch(url, { signal: AbortSignal.timeout(SCRAPE_MS) }).catch(() => null);
    // An interrupt stops the service first.
    await response?.text().catch(() => '');
  }, SCRAPE_MS);
  return () => clearInterval(timer);
}

/**
 * Creates sends in the state in which the API and the worker leave them.
 * @param {import('pg').Pool} pool
 * @param {import('@onecode/store/client').Database} handle
 * @param {import('@onecode/testing').TestCaller[]} callers
 * @param {Pick<Packages, 'store' | 'testing' | 'whatsapp'>} packages
 * @returns {Pick<Target, 'createSends' | 'createAcceptedSends' | 'clear'>}
 */
function sendsOf(pool, handle, callers, { store, testing, whatsapp }) {
  // Ids grow with time: every later send has a greater one.
  const first = store.newId();
  /** @param {number} count */
  const createSends = async (count) => {
    /** @type {import('./target.mjs').CreatedSend[]} */
    const created = [];
    for (let start = 0; start < count; start += SENDS_CREATED_TOGETHER) {
      const size = Math.min(SENDS_CREATED_TOGETHER, count - start);
      const group = Array.from({ length: size }, async (_, index) => {
        const caller = roundRobin(callers, start + index);
        const options = { code: CODE, recipient: nextRecipient() };
        return { id: await testing.buildSend(handle, caller, options), key: caller.key };
      });
      created.push(...(await Promise.all(group)));
    }
    return created;
  };
  return {
    createSends,
    async createAcceptedSends(count) {
      const accepted = (await createSends(count)).map((send) => ({
        ...send,
        opaqueData: `${send.id}.1`,
        messageId: `wamid.${send.id}`,
      }));
      await runConcurrently(Math.ceil(count / SETTLED_TOGETHER), WORKERS, async (index) => {
        const group = accepted.slice(index * SETTLED_TOGETHER, (index + 1) * SETTLED_TOGETHER);
        const messageIds = group.map(({ messageId }) => whatsapp.messageIdOf(messageId));
        await pool.query(ACCEPT, [group.map(({ id }) => id), messageIds]);
      });
      return accepted;
    },
    async clear() {
      // The reports of another revision, named by `--beside`, may be in another table.
      const { rows } = await pool.query(
        `select coalesce(to_regclass('provider_reports'), to_regclass('receipts'))::text as reports`,
      );
      const [{ reports }] = rows;
      await pool.query(`
        create temporary table if not exists deleted (id uuid);
        truncate deleted;
        insert into deleted select id from sends where id > '${first}';
        delete from ${reports};
        delete from ledger_entries where send_id in (select id from deleted);
        delete from attempts where send_id in (select id from deleted);
        delete from sends where id in (select id from deleted)`);
      // Otherwise an automatic vacuum would run during some round, and dead entries would stay in the indexes, longer in large tables.
      await pool.query('vacuum sends, attempts, ledger_entries');
      await pool.query(`vacuum (index_cleanup on) ${reports}`);
    },
  };
}
