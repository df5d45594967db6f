import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { openPool } from '../floor/database.mjs';
import { hashCode, newId, seal, sha256 } from '../floor/secrets.mjs';
import { inLanes } from '../lanes.mjs';
import { inTurn } from '../turn.mjs';
import { ACCOUNTS, CODE, PROVIDER_PATH, SETTLED_TOGETHER } from './contender.mjs';
import { nextRecipient } from './requests.mjs';
import { makeDatabase, startService } from './service.mjs';

const LANES = 4;

/** As its worker does, but several at a time, as ours are made. */
const CLAIM = `update sends set status = 'sending', next_enqueue_at = clock_timestamp() + interval '15 seconds' where id = any($1)`;
const SETTLE = `
  update sends s set status = 'sent', sent_at = clock_timestamp(), message_id = made.message_id, sealed_code = null, next_enqueue_at = null
  from unnest($1::uuid[], $2::text[]) as made (id, message_id) where s.id = made.id`;

/**
 * The floor, with a thousand accounts as ours.
 * @param {import('../run.mjs').House} house
 * @returns {Promise<import('./contender.mjs').Contender>}
 */
export async function openFloor(house) {
  const schema = readFileSync(new URL('../floor/schema.sql', import.meta.url), 'utf8');
  const url = await makeDatabase(house, 'floor', schema);
  const pool = openPool(url);
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
    async makeSent(count) {
      const sent = (await makeSends(count)).map((one) => ({ ...one, messageId: `wamid.${one.id}` }));
      await inLanes(Math.ceil(count / SETTLED_TOGETHER), LANES, async (group) => {
        const part = sent.slice(group * SETTLED_TOGETHER, (group + 1) * SETTLED_TOGETHER);
        const ids = part.map(({ id }) => id);
        await pool.query(CLAIM, [ids]);
        await pool.query(SETTLE, [ids, part.map(({ messageId }) => messageId)]);
      });
      return sent;
    },
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
 * @param {import('pg').Pool} pool
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
  // An automatic one that came while they were made saw none of them, and the plans after it would read all.
  await pool.query('analyze sends');
  return made;
}
