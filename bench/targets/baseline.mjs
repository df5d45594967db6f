import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { encrypt, hashCode, newId, openPool, sha256 } from '../baseline/primitives.mjs';
import { createDatabase, startService } from '../environment.mjs';
import { roundRobin, runConcurrently } from '../scheduling.mjs';
import { ACCOUNTS, BASELINE, CODE, nextRecipient, PROVIDER_PATH, SETTLED_TOGETHER } from './target.mjs';

const WORKERS = 4;

/** Updates sends in groups, like the baseline's worker. Onecode's sends are prepared in the same way. */
const CLAIM = `update sends set status = 'sending', next_enqueue_at = clock_timestamp() + interval '15 seconds' where id = any($1)`;
const SETTLE = `
  update sends s set status = 'sent', sent_at = clock_timestamp(), message_id = created.message_id, encrypted_code = null, next_enqueue_at = null
  from unnest($1::uuid[], $2::text[]) as created (id, message_id) where s.id = created.id`;

/**
 * Starts the baseline with a thousand accounts, like Onecode.
 * @param {import('../environment.mjs').Environment} environment
 * @param {string} [database] its name
 * @returns {Promise<import('./target.mjs').Target>}
 */
export async function openBaseline(environment, database = 'baseline') {
  const schema = readFileSync(new URL('../baseline/schema.sql', import.meta.url), 'utf8');
  const url = await createDatabase(environment, database, schema);
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
  const env = { DATABASE_URL: url, REDIS_URL: environment.redisUrl, WHATSAPP_APP_SECRET: secret };
  const startApi = () =>
    startService(environment, { name: `${database}-api`, script: 'bench/baseline/server.mjs', env });
  const api = await startApi();
  const redis = new Redis(environment.redisUrl, { maxRetriesPerRequest: null });
  const queue = new Queue('baseline', { connection: redis });
  // An interrupt stops the services first.
  pool.on('error', () => {});
  redis.on('error', () => {});
  queue.on('error', () => {});
  const createSends = (/** @type {number} */ count) => create(pool, accounts, count);

  return {
    name: BASELINE,
    api,
    startApi,
    secret,
    databaseUrl: url,
    pool,
    keys: accounts.map(({ key }) => key),
    startWorker: (providerUrl, concurrency) =>
      startService(environment, {
        name: `${database}-worker`,
        script: 'bench/baseline/worker.mjs',
        env: {
          ...env,
          WHATSAPP_API_URL: providerUrl + PROVIDER_PATH,
          DELIVERY_CONCURRENCY: String(concurrency),
        },
        readyPath: null,
      }),
    createSends,
    async createEnqueuedSends(count) {
      const created = await createSends(count);
      await queue.addBulk(
        created.map(({ id }) => ({
          name: 'deliver',
          data: { sendId: id },
          opts: { removeOnComplete: 1000 },
        })),
      );
    },
    async createAcceptedSends(count) {
      const created = await createSends(count);
      const accepted = created.map((send) => ({
        ...send,
        messageId: `wamid.${send.id}`,
        opaqueData: send.id,
      }));
      await runConcurrently(Math.ceil(count / SETTLED_TOGETHER), WORKERS, async (index) => {
        const group = accepted.slice(index * SETTLED_TOGETHER, (index + 1) * SETTLED_TOGETHER);
        const ids = group.map(({ id }) => id);
        await pool.query(CLAIM, [ids]);
        await pool.query(SETTLE, [ids, group.map(({ messageId }) => messageId)]);
      });
      return accepted;
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
 * @returns {Promise<import('./target.mjs').CreatedSend[]>}
 */
async function create(pool, accounts, count) {
  const created = Array.from({ length: count }, (_, index) => ({
    id: newId(),
    key: roundRobin(accounts, index).key,
  }));
  await pool.query(
    `select count(*) from unnest($1::bytea[], $2::uuid[], $3::text[], $4::bytea[], $5::bytea[]) as r (key, id, recipient, hash, encrypted),
       lateral create_send(r.key, r.id, null, null, r.recipient, r.hash, r.encrypted) c where c.outcome = 'created'`,
    [
      created.map(({ key }) => sha256(key)),
      created.map(({ id }) => id),
      created.map(nextRecipient),
      created.map(({ id }) => hashCode(id, CODE)),
      created.map(({ id }) => encrypt(id, CODE)),
    ],
  );
  // An automatic analyze during the insert saw no rows, and plans made after it would scan the whole table.
  await pool.query('analyze sends');
  return created;
}
