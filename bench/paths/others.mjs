import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { root } from '../../scripts/checkout.mjs';
import { sha256 } from '../floor/secrets.mjs';
import { ACCOUNTS } from './contender.mjs';
import { makeDatabase, startService } from './service.mjs';

/**
 * @typedef {object} Other  what people use today, for creation only
 * @property {string} name
 * @property {import('./service.mjs').Service} api
 * @property {string[]} keys
 */

/**
 * Express with Prisma's interactive transaction.
 * @param {import('../run.mjs').House} house
 * @returns {Promise<Other>}
 */
export async function openOrdinary(house) {
  const folder = join(root, 'bench/ordinary');
  const cli = createRequire(import.meta.url).resolve('prisma/build/index.js');
  execFileSync(process.execPath, [cli, 'generate', '--schema', join(folder, 'schema.prisma')], {
    cwd: root,
    stdio: 'pipe',
    env: {
      ...process.env,
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, // none is needed, and this keeps it from downloading one
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
      CHECKPOINT_DISABLE: '1',
    },
  });
  const url = await makeDatabase(house, 'ordinary', readFileSync(join(folder, 'schema.sql'), 'utf8'));
  const ids = Array.from({ length: ACCOUNTS }, () => randomUUID());
  const keys = ids.map(() => `ak_live_${randomBytes(16).toString('hex')}`);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    `insert into accounts (id, free_quota, credits, rate_per_minute) select id, 0, 500000000, 1000000 from unnest($1::uuid[]) id`,
    [ids],
  );
  await client.query(
    `insert into api_keys (id, account_id, hash) select gen_random_uuid(), * from unnest($1::uuid[], $2::bytea[])`,
    [ids, keys.map(sha256)],
  );
  await client.end();
  const api = await startService(house, {
    name: 'ordinary',
    script: 'bench/ordinary/server.mjs',
    env: {
      DATABASE_URL: url,
      REDIS_URL: house.redisUrl,
      CLIENT: pathToFileURL(join(root, '.data/bench/ordinary-client/index.js')).href,
    },
  });
  return { name: 'Express + Prisma', api, keys };
}

/**
 * better-auth's phone number plugin.
 * @param {import('../run.mjs').House} house
 * @returns {Promise<Other>}
 */
export async function openBetterAuth(house) {
  const url = await makeDatabase(house, 'better_auth');
  const api = await startService(house, {
    name: 'better-auth',
    script: 'bench/better-auth/server.mjs',
    env: { DATABASE_URL: url },
    readyPath: '/api/auth/ok',
  });
  return { name: 'better-auth', api, keys: [] };
}
