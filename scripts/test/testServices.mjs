import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../checkout.mjs';
import { Processes } from '../processes/processes.mjs';

/**
 * PostgreSQL, Redis and a browser for runs of Jest: started for the run, or kept by `npm run services`.
 * @typedef {{ env: Record<string, string>, stop: () => Promise<void> }} TestServices  env: the variables that tests read
 */

/** The file to which `npm run services` writes the variables. */
const KEPT = join(root, '.data/test-services.json');

/**
 * Starts throwaway services, which end with this process at the latest. It uses no service that DATABASE_URL or REDIS_URL names. Without a
 * Chromium on this machine, there is no browser, and tests in one are skipped.
 * @returns {Promise<TestServices>}
 */
export async function startTestServices() {
  const processes = Processes.throwaway();
  // They need the packages, and these need a build.
  const [{ startPostgres }, { startRedis }, { startBrowserServer }] = await Promise.all([
    import('../services/postgres.mjs'),
    import('../services/redis.mjs'),
    import('@onecode/testing'),
  ]);
  const options = { processes, throwaway: true, log: console.log };
  const [postgres, redis, browser] = await Promise.all([
    startPostgres(options),
    startRedis(options),
    startBrowserServer().catch(() => null),
  ]);
  return {
    env: {
      TEST_DATABASE_URL: postgres.url,
      TEST_REDIS_URL: redis.url,
      ...(browser && { BROWSER_ENDPOINT: browser.wsEndpoint() }),
    },
    async stop() {
      await browser?.close();
      await processes.stop();
    },
  };
}

/**
 * Returns the variables of the running `npm run services`, or null.
 * @returns {Promise<Record<string, string> | null>}
 */
export async function findKeptServices() {
  if (!existsSync(KEPT)) return null;
  const env = JSON.parse(readFileSync(KEPT, 'utf8'));
  const { postgresFault } = await import('../services/answer.mjs');
  // The file remains after a kill.
  return (await postgresFault(env.TEST_DATABASE_URL)) === null ? env : null;
}

/** @param {Record<string, string>} env */
export function keepServices(env) {
  mkdirSync(dirname(KEPT), { recursive: true });
  writeFileSync(KEPT, JSON.stringify(env), { mode: 0o600 });
}

export const forgetServices = () => rmSync(KEPT, { force: true });
