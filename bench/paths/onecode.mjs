import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { runNpm } from '../../scripts/setup/npm.mjs';
import { inTurn } from '../turn.mjs';
import { ACCOUNTS, CODE, PROVIDER_PATH } from './contender.mjs';
import { nextRecipient } from './requests.mjs';
import { makeDatabase, run, startService } from './service.mjs';

const SENDERS = 10;
const RINGS_MAX = 1_000;
const PAST_EACH = 100_000;
const MADE_TOGETHER = 1_000;
const PLENTY = { freeQuota: 0, credits: 500_000_000, ratePerMinute: 1_000_000 };

/** @typedef {import('./contender.mjs').Contender} Contender */

/**
 * The built service with a database of its own, in which a thousand accounts have a live key each.
 * @param {import('../run.mjs').House} house
 * @param {string} database its name
 * @param {number} rows sends of other accounts that are there from the start
 * @returns {Promise<Contender>}
 */
export async function openOnecode(house, database, rows) {
  const url = await makeDatabase(house, database);
  const withUrl = { ...process.env, DATABASE_URL: url };
  await runNpm(house.processes, ['run', '--silent', 'migrate'], { title: 'npm run migrate', env: withUrl });
  const { openDatabase, closeDatabase } = await import('@onecode/store'); // needs the build
  const testing = await import('@onecode/store/testing');
  const handle = openDatabase(url, { connectionsMax: 10 });
  const callers = await inLanes(ACCOUNTS, 10, () => testing.buildCaller(handle, 'live', PLENTY));
  const sender = await testing.buildSender(handle, { throughput: 1000 });
  for (let made = 1; made < SENDERS; made++) await testing.buildSender(handle, { throughput: 1000 });
  await inLanes(Math.ceil(rows / PAST_EACH), 2, (past) =>
    fillPast(testing, handle, url, sender.id, Math.min(PAST_EACH, rows - past * PAST_EACH)),
  );
  await closeDatabase(handle);
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
  const startApi = () =>
    startService(house, { name: `${database}-api`, script: 'apps/api/dist/main.js', env });
  const api = await startApi();
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on('error', () => {}); // whoever interrupts us stops the services first
  const sends = await sendMaker(pool, callers, testing);
  const { openBell } = await import('@onecode/runtime');
  const bell = openBell({ redisUrl: house.redisUrl, prefix, deliveryAttempts: 5, onError: () => {} });

  return {
    name: rows === 0 ? 'Onecode' : `Onecode, ${rows} rows`,
    api,
    startApi,
    secret,
    pool,
    keys: callers.map(({ key }) => key),
    startWorker: (providerUrl, concurrency) =>
      startService(house, {
        name: `${database}-worker`,
        script: 'apps/worker/dist/main.js',
        env: {
          ...env,
          WHATSAPP_API_URL: providerUrl + PROVIDER_PATH,
          DELIVERY_CONCURRENCY: String(concurrency),
        },
        port: 'METRICS_PORT',
      }),
    makeSends: sends.make,
    makeReported: sends.makeReported,
    async makeRung(count) {
      const made = await sends.make(count);
      for (let place = 0; place < count; place += RINGS_MAX) {
        const rings = made.slice(place, place + RINGS_MAX).map(({ id }) => ({ sendId: id, generation: 0 }));
        if (!(await bell.ring('deliver', rings))) throw new Error('Redis did not take the rings.');
      }
    },
    async clear() {
      await pool.query(CLEARED);
    },
    async close() {
      await bell.close();
      await pool.end();
    },
  };
}

/** Sends and receipts that wait for a worker would be its work in the next measurement. */
const CLEARED = `
  create temporary table if not exists waiting (id uuid);
  truncate waiting;
  insert into waiting select id from sends where due_at is not null;
  delete from ledger_entries where send_id in (select id from waiting);
  delete from attempts where send_id in (select id from waiting);
  delete from sends where id in (select id from waiting);
  delete from receipts where due_at is not null`;

/**
 * Makes sends as creation does, many in one statement.
 * @param {pg.Pool} pool
 * @param {import('@onecode/store/testing').TestCaller[]} callers
 * @param {typeof import('@onecode/store/testing')} testing
 */
async function sendMaker(pool, callers, { TEST_PEPPER, TEST_SECRET_KEY }) {
  const { newId } = await import('@onecode/store');
  const { hashCode, seal } = await import('@onecode/domain');
  /** @param {number} count */
  const make = async (count) => {
    const made = Array.from({ length: count }, (_, place) => ({
      id: newId(),
      caller: inTurn(callers, place),
    }));
    for (let at = 0; at < made.length; at += MADE_TOGETHER) {
      const part = made.slice(at, at + MADE_TOGETHER);
      const none = part.map(() => null);
      await pool.query(
        'select count(*) from create_sends($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) where outcome = $11',
        [
          part.map(({ id }) => id),
          part.map(({ caller }) => caller.accountId),
          part.map(({ caller }) => caller.applicationId),
          none,
          none,
          part.map(nextRecipient),
          part.map(() => 'BR'),
          none,
          part.map(({ id }) => hashCode(TEST_PEPPER, id, CODE)),
          part.map(({ id }) => seal(TEST_SECRET_KEY, id, CODE)),
          'created',
        ],
      );
    }
    const ids = made.map(({ id }) => id);
    // No sweep rings for them while they are measured.
    await pool.query(`update sends set ring_at = ring_at + interval '1 hour' where id = any($1)`, [ids]);
    return made.map(({ id, caller }) => ({ id, key: caller.key }));
  };
  /** @param {number} count */
  const makeReported = async (count) => {
    const reported = (await make(count)).map(({ id }) => ({
      id,
      attemptId: newId(),
      messageId: `wamid.${id}`,
    }));
    await pool.query(
      `with accepted as (
         update sends s set status = 'sent', channel = 'whatsapp', from_number = r.number, sender_id = r.id, attempts = 1,
           code_box = null, due_at = null, ring_at = null, sent_at = clock_timestamp(), version = version + 2
         from (select id, number from senders order by id limit 1) r where s.id = any($1::uuid[]) returning s.id, r.id as sender_id
       ) insert into attempts (id, send_id, sender_id, outcome, message_id, finished_at)
         select made.attempt_id, id, sender_id, 'accepted', made.message_id, clock_timestamp()
         from accepted join unnest($1::uuid[], $2::uuid[], $3::text[]) as made (id, attempt_id, message_id) using (id)`,
      [
        reported.map(({ id }) => id),
        reported.map(({ attemptId }) => attemptId),
        reported.map(({ messageId }) => messageId),
      ],
    );
    return reported;
  };
  return { make, makeReported };
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

/**
 * @template T
 * @param {number} count
 * @param {number} lanes
 * @param {(index: number) => Promise<T>} make
 * @returns {Promise<T[]>}
 */
async function inLanes(count, lanes, make) {
  /** @type {T[]} */
  const made = [];
  let begun = 0;
  const lane = async () => {
    while (begun < count) made.push(await make(begun++));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return made;
}
