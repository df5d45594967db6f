import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { UserError } from '../../scripts/user-error.mjs';
import { root, runNpm } from '../../scripts/checkout.mjs';
import { buildRelease, commitOf } from '../../scripts/release.mjs';
import { inLanes } from '../lanes.mjs';
import { ACCOUNTS, BEFORE, PROVIDER_PATH } from './contender.mjs';
import { sendsOf } from './sends.mjs';
import { makeDatabase, run, startService } from './service.mjs';

const SENDERS = 10;
const ENQUEUES_MAX = 1_000;
const PAST_EACH = 100_000;
const PLENTY = { freeQuota: 0, credits: 500_000_000, ratePerMinute: 1_000_000 };

/**
 * @typedef {import('./contender.mjs').Contender} Contender
 *
 * @typedef {object} Release  a build of ours
 * @property {string} name
 * @property {string} folder
 */

/** @type {Release} */
export const OURS = { name: 'Onecode', folder: root };

/**
 * Builds what stood at a commit, to be measured beside ours.
 * @param {import('../run.mjs').House} house
 * @param {string} ref what git calls it
 * @returns {Promise<Release>}
 */
export async function buildBefore({ processes }, ref) {
  const commit = commitOf(ref);
  if (commit === null) throw new UserError(`--beside: git knows no ${ref} here.`);
  console.log(`Building ${ref} (${commit.slice(0, 7)}) …`);
  return { name: BEFORE, folder: await buildRelease(commit, processes.folder) };
}

/**
 * The packages of a release, as its own build has them: what they do with a database fits its own schema.
 * @param {Release} release
 */
async function packagesOf({ folder }) {
  const { resolve } = createRequire(join(folder, 'package.json'));
  const load = (/** @type {string} */ name) => import(pathToFileURL(resolve(name)).href);
  return {
    store: /** @type {typeof import('@onecode/store')} */ (await load('@onecode/store')),
    testing: /** @type {typeof import('@onecode/store/testing')} */ (await load('@onecode/store/testing')),
    runtime: /** @type {typeof import('@onecode/runtime')} */ (await load('@onecode/runtime')),
  };
}

/**
 * The built service with a database of its own, migrated by itself, in which a thousand accounts have a live key each.
 * @param {import('../run.mjs').House} house
 * @param {Release} release
 * @param {string} database its name
 * @param {number} rows sends of other accounts that are there from the start
 * @returns {Promise<Contender>}
 */
export async function openOnecode(house, release, database, rows) {
  const url = await makeDatabase(house, database);
  const withUrl = { ...process.env, DATABASE_URL: url };
  const migration = { title: 'npm run migrate', env: withUrl, cwd: release.folder };
  await runNpm(house.processes, ['run', '--silent', 'migrate'], migration);
  const { store, testing, runtime } = await packagesOf(release);
  const handle = store.openDatabase(url, { connectionsMax: 10 });
  const callers = await inLanes(ACCOUNTS, 10, () => testing.buildCaller(handle, 'live', PLENTY));
  const sender = await testing.buildSender(handle, { throughput: 1000 });
  for (let made = 1; made < SENDERS; made++) await testing.buildSender(handle, { throughput: 1000 });
  await inLanes(Math.ceil(rows / PAST_EACH), 2, (past) =>
    fillPast(testing, handle, url, sender.id, Math.min(PAST_EACH, rows - past * PAST_EACH)),
  );
  // Else PostgreSQL would clear up behind the fill, and write its pages, while the first lines are measured.
  if (rows > 0) await run(url, 'vacuum (analyze)', 'checkpoint');

  const secret = randomBytes(16).toString('hex');
  const prefix = database;
  const env = {
    DATABASE_URL: url,
    REDIS_URL: house.redisUrl,
    QUEUE_PREFIX: prefix,
    BASE_URL: 'http://localhost:3000',
    CODE_PEPPER: testing.TEST_PEPPER.keys.get(1)?.toString('base64'),
    SECRET_KEY: testing.TEST_SECRET_KEY.keys.get(1)?.toString('base64'),
    WHATSAPP_APP_SECRET: secret,
    WHATSAPP_VERIFY_TOKEN: randomBytes(16).toString('hex'),
    ...(process.env['LOG_LEVEL'] && { LOG_LEVEL: process.env['LOG_LEVEL'] }),
  };
  const scriptOf = (/** @type {string} */ app) => join(release.folder, `apps/${app}/dist/main.js`);
  const startApi = () => startService(house, { name: `${database}-api`, script: scriptOf('api'), env });
  const api = await startApi();
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on('error', () => {}); // whoever interrupts us stops the services first
  const sends = sendsOf(pool, handle, callers, { store, testing });
  const deliveryQueue = runtime.openDeliveryQueue({ redisUrl: house.redisUrl, prefix, deliveryAttempts: 5, onError: () => {} });

  return {
    name: rows === 0 ? release.name : `${release.name}, ${rows} rows`,
    api,
    startApi,
    secret,
    pool,
    keys: callers.map(({ key }) => key),
    startWorker: (providerUrl, concurrency) =>
      startService(house, {
        name: `${database}-worker`,
        script: scriptOf('worker'),
        env: {
          ...env,
          WHATSAPP_API_URL: providerUrl + PROVIDER_PATH,
          DELIVERY_CONCURRENCY: String(concurrency),
        },
        port: 'METRICS_PORT',
      }),
    ...sends,
    async makeRung(count) {
      const made = await sends.makeSends(count);
      for (let place = 0; place < count; place += ENQUEUES_MAX) {
        const jobs = made.slice(place, place + ENQUEUES_MAX).map(({ id }) => ({ sendId: id, version: 0 }));
        if (!(await deliveryQueue.enqueue('deliver', jobs))) throw new Error('Redis did not take the jobs.');
      }
    },
    async close() {
      await deliveryQueue.close();
      await store.closeDatabase(handle);
      await pool.end();
    },
  };
}

/**
 * Another account with a past.
 * @param {typeof import('@onecode/store/testing')} testing
 * @param {import('@onecode/store').Database} handle
 * @param {string} url
 * @param {string} senderId
 * @param {number} sends
 */
async function fillPast({ buildCaller, fillHistory }, handle, url, senderId, sends) {
  const { accountId, applicationId } = await buildCaller(handle, 'live');
  const applications = [{ id: applicationId, mode: /** @type {const} */ ('live') }];
  await fillHistory(url, { accountId, applications, senderId, sends, days: 60 });
}
