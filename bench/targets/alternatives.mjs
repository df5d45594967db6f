import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { root } from '../../scripts/checkout.mjs';
import { sha256 } from '../baseline/primitives.mjs';
import { createDatabase, startService } from '../environment.mjs';
import { ACCOUNTS } from './target.mjs';

/**
 * @typedef {import('../environment.mjs').Environment} Environment
 *
 * @typedef {object} Alternative  a common solution today; it only creates sends
 * @property {string} name
 * @property {import('../environment.mjs').Service} api
 * @property {string[]} keys empty where requests need none
 */

/**
 * Starts Express with Prisma's interactive transactions.
 * @param {Environment} environment
 * @returns {Promise<Alternative>}
 */
export async function openExpressPrisma(environment) {
  const folder = join(root, 'bench/alternatives');
  const cli = createRequire(import.meta.url).resolve('prisma/build/index.js');
  execFileSync(process.execPath, [cli, 'generate', '--schema', join(folder, 'schema.prisma')], {
    cwd: root,
    stdio: 'pipe',
    env: {
      ...process.env,
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, // `generate` needs no engine; this prevents its download
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
      CHECKPOINT_DISABLE: '1',
    },
  });
  const url = await createDatabase(
    environment,
    'express_prisma',
    readFileSync(join(folder, 'schema.sql'), 'utf8'),
  );
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
  const api = await startService(environment, {
    name: 'express-prisma',
    script: 'bench/alternatives/expressPrisma.mjs',
    env: {
      DATABASE_URL: url,
      REDIS_URL: environment.redisUrl,
      CLIENT: pathToFileURL(join(root, '.data/bench/express-prisma-client/index.js')).href,
    },
  });
  return { name: 'Express + Prisma', api, keys };
}

/**
 * Starts better-auth's phone number plugin.
 * @param {Environment} environment
 * @returns {Promise<Alternative>}
 */
export async function openBetterAuth(environment) {
  const url = await createDatabase(environment, 'better_auth');
  const api = await startService(environment, {
    name: 'better-auth',
    script: 'bench/alternatives/betterAuth.mjs',
    env: { DATABASE_URL: url },
    readyPath: '/api/auth/ok',
  });
  return { name: 'better-auth', api, keys: [] };
}
