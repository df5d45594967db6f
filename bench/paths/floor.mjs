import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { hashCode, newId, seal, sha256 } from '../floor/secrets.mjs';
import { inTurn } from '../turn.mjs';
import { ACCOUNTS, CODE, PROVIDER_PATH } from './contender.mjs';
import { nextRecipient } from './requests.mjs';
import { makeDatabase, startService } from './service.mjs';

/**
 * The floor, with a thousand accounts as ours.
 * @param {import('../run.mjs').House} house
 * @returns {Promise<import('./contender.mjs').Contender>}
 */
export async function openFloor(house) {
  const schema = readFileSync(new URL('../floor/schema.sql', import.meta.url), 'utf8');
  const url = await makeDatabase(house, 'floor', schema);
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  const accounts = Array.from({ length: ACCOUNTS }, () => ({
    id: randomUUID(),
    key: `ak_live_${randomBytes(16).toString('hex')}`,
  }));
  const ids = accounts.map(({ id }) => id);
  await pool.query(
    `insert into accounts (id, free_quota, credits, rate_per_minute) select id, 0, 500000000, 1000000 from unnest($1::uuid[]) id`,
    [ids],
  );
  await pool.query(`insert into api_keys (hash, account_id) select * from unnest($1::bytea[], $2::uuid[])`, [
    accounts.map(({ key }) => sha256(key)),
    ids,
  ]);

  const secret = randomBytes(16).toString('hex');
  const env = { DATABASE_URL: url, REDIS_URL: house.redisUrl, WHATSAPP_APP_SECRET: secret };
  const startApi = () => startService(house, { name: 'floor-api', script: 'bench/floor/server.mjs', env });
  const api = await startApi();
  const redis = new Redis(house.redisUrl, { maxRetriesPerRequest: null });
  const queue = new Queue('floor', { connection: redis });
  // Whoever interrupts us stops the services first.
  pool.on('error', () => {});
  redis.on('error', () => {});
  queue.on('error', () => {});
  const makeSends = (/** @type {number} */ count) => make(pool, accounts, count);

  return {
    name: 'floor',
    api,
    startApi,
    secret,
    pool,
    keys: accounts.map(({ key }) => key),
    startWorker: (providerUrl, concurrency) =>
      startService(house, {
        name: 'floor-worker',
        script: 'bench/floor/worker.mjs',
        env: {
          ...env,
          WHATSAPP_API_URL: providerUrl + PROVIDER_PATH,
          DELIVERY_CONCURRENCY: String(concurrency),
        },
        readyPath: null,
      }),
    makeSends,
    async makeRung(count) {
      const made = await makeSends(count);
      await queue.addBulk(
        made.map(({ id }) => ({ name: 'deliver', data: { sendId: id }, opts: { removeOnComplete: 1000 } })),
      );
    },
    makeReported: () => Promise.reject(new Error('The floor applies no receipts.')),
    async clear() {
      await pool.query('truncate ledger_entries, receipts, sends');
    },
    async close() {
      await queue.close();
      redis.disconnect();
      await pool.end();
    },
  };
}

/**
 * @param {pg.Pool} pool
 * @param {readonly { id: string, key: string }[]} accounts
 * @param {number} count
 * @returns {Promise<import('./requests.mjs').Made[]>}
 */
async function make(pool, accounts, count) {
  const made = Array.from({ length: count }, (_, place) => ({
    id: newId(),
    key: inTurn(accounts, place).key,
  }));
  await pool.query(
    `select count(*) from unnest($1::bytea[], $2::uuid[], $3::text[], $4::bytea[], $5::bytea[]) as r (key, id, recipient, hash, box),
       lateral create_send(r.key, r.id, null, null, r.recipient, r.hash, r.box) c where c.outcome = 'created'`,
    [
      made.map(({ key }) => sha256(key)),
      made.map(({ id }) => id),
      made.map(nextRecipient),
      made.map(({ id }) => hashCode(id, CODE)),
      made.map(({ id }) => seal(id, CODE)),
    ],
  );
  return made;
}
