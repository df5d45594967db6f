import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from './refusal.mjs';
import { startPostgres } from './services/postgres.mjs';
import { postgresFault, redisFault } from './services/reachable.mjs';
import { startRedis } from './services/redis.mjs';

/**
 * @typedef {object} Services
 * @property {string} databaseUrl
 * @property {string} redisUrl
 * @property {{ name: string, exited: Promise<string> }[]} started those of our own
 */

/**
 * PostgreSQL and Redis: those that DATABASE_URL and REDIS_URL name, which must answer, else servers of our own with their
 * data in the processes' folder. Ours take the ports they had the last time where these are still free.
 * @param {object} wanted
 * @param {import('./processes/processes.mjs').Processes} wanted.processes
 * @param {boolean} wanted.throwaway nothing needs to survive a crash of the machine: faster
 * @param {(line: string) => void} wanted.say
 * @returns {Promise<Services>}
 * @throws {Refusal} naming the one that is missing
 */
export async function startServices({ processes, throwaway, say }) {
  const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = process.env;
  const wrong =
    (databaseUrl && named('DATABASE_URL', await postgresFault(databaseUrl))) ||
    (redisUrl && named('REDIS_URL', await redisFault(redisUrl)));
  if (wrong) throw new Refusal(wrong);

  const portsFile = join(processes.folder, 'ports.json');
  const ports = readPorts(portsFile);
  const wanted = { processes, throwaway, say };
  const postgres = databaseUrl ? undefined : await startPostgres({ ...wanted, port: ports.postgres ?? 0 });
  const redis = redisUrl ? undefined : await startRedis({ ...wanted, port: ports.redis ?? 0 });
  const now = { ...ports, ...(postgres && { postgres: postgres.port }), ...(redis && { redis: redis.port }) };
  writeFileSync(portsFile, JSON.stringify(now));
  return {
    databaseUrl: databaseUrl || /** @type {string} */ (postgres?.url),
    redisUrl: redisUrl || /** @type {string} */ (redis?.url),
    started: [postgres, redis].filter((one) => one !== undefined),
  };
}

/**
 * @param {string} variable
 * @param {string | null} fault
 */
function named(variable, fault) {
  return fault && `${variable}: ${fault}.`;
}

/**
 * @param {string} file
 * @returns {{ postgres?: number, redis?: number }}
 */
function readPorts(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}
