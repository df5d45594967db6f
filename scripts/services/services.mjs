import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../user-error.mjs';
import { postgresFault, redisFault } from './answer.mjs';
import { startPostgres } from './postgres.mjs';
import { startRedis } from './redis.mjs';

/**
 * @typedef {import('../processes/processes.mjs').Started} Started
 *
 * @typedef {object} ServiceOptions  for a service of our own
 * @property {import('../processes/processes.mjs').Processes} processes  its data and its log go into their folder
 * @property {number} [port]  the port that it had last time
 * @property {boolean} throwaway  its data need not survive a crash of the machine: faster
 * @property {readonly string[]} [settings]  further settings of PostgreSQL, `name=value`
 * @property {NodeJS.ProcessEnv} [env]  PostgreSQL's environment
 * @property {(line: string) => void} log
 *
 * A service of our own. `restart` starts it again after it has ended, at the same address and with the same data.
 * @typedef {Started & { url: string, port: number, restart: () => Promise<Started> }} Service
 *
 * `started` holds the services of our own.
 * @typedef {{ databaseUrl: string, redisUrl: string, started: Service[] }} Services
 */

/**
 * PostgreSQL and Redis: those that DATABASE_URL and REDIS_URL name, which must answer, else servers of our own with their
 * data in the processes' folder. Ours take the ports they had the last time where these are still free.
 * @param {Pick<ServiceOptions, 'processes' | 'throwaway' | 'log'>} options
 * @returns {Promise<Services>}
 * @throws {UserError} naming the one that is missing
 */
export async function startServices(options) {
  const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = process.env;
  const fault =
    (databaseUrl && about('DATABASE_URL', await postgresFault(databaseUrl))) ||
    (redisUrl && about('REDIS_URL', await redisFault(redisUrl)));
  if (fault) throw new UserError(fault);

  const portsFile = join(options.processes.folder, 'ports.json');
  const ports = readPorts(portsFile);
  const postgres = databaseUrl ? undefined : await startPostgres({ ...options, port: ports.postgres ?? 0 });
  const redis = redisUrl ? undefined : await startRedis({ ...options, port: ports.redis ?? 0 });
  const used = {
    ...ports,
    ...(postgres && { postgres: postgres.port }),
    ...(redis && { redis: redis.port }),
  };
  writeFileSync(portsFile, JSON.stringify(used));
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
function about(variable, fault) {
  if (fault === null) return null;
  return fault.startsWith(variable) ? `${fault}.` : `${variable}: ${fault}.`;
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
