import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, databaseAddress, DATABASE_POOLER, readConfig, redisAddress } from '@onecode/runtime';
import { closeDatabase, openDatabase, pingDatabase } from '@onecode/store/client';
import { UserError } from '../user-error.mjs';
import { reason, redisFault } from './answer.mjs';
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
 * @property {string} [programs]  the folder of PostgreSQL's `bin`; the npm package's by default
 * @property {NodeJS.ProcessEnv} [env]  PostgreSQL's environment
 * @property {(line: string) => void} log
 *
 * A service that was started here. `restart` starts it again after it has ended, at the same address and with the same data.
 * @typedef {Started & { url: string, port: number, restart: () => Promise<Started> }} Service
 *
 * `started` has the services that were started here.
 * @typedef {{ databaseUrl: string, redisUrl: string, started: Service[] }} Services
 */

/**
 * Returns PostgreSQL and Redis: the servers that DATABASE_URL and REDIS_URL name, which must answer, or else new servers with their data in
 * the processes' folder. New servers use their previous ports if these are still free.
 * @param {Pick<ServiceOptions, 'processes' | 'throwaway' | 'log'>} options
 * @returns {Promise<Services>}
 * @throws {UserError} naming the one that is missing
 */
export async function startServices(options) {
  const { databaseUrl, pooler, redisUrl } = readAddresses();
  const faults = [
    databaseUrl && about('DATABASE_URL', await databaseFault(databaseUrl, pooler)),
    redisUrl && about('REDIS_URL', await redisFault(redisUrl)),
  ].filter(Boolean);
  if (faults.length > 0) throw new UserError(faults.join('\n'));

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
 * @returns {{ databaseUrl: string, pooler: 'none' | 'transaction', redisUrl: string }} empty for a service that is not named
 * @throws {UserError} with a line for each fault
 */
function readAddresses() {
  const { DATABASE_URL, DATABASE_POOLER: pooler, REDIS_URL } = process.env;
  const specs = {
    DATABASE_URL: databaseAddress(''),
    DATABASE_POOLER,
    ...(REDIS_URL?.trim() && { REDIS_URL: redisAddress() }),
  };
  try {
    const config = readConfig({ DATABASE_URL, DATABASE_POOLER: pooler, REDIS_URL }, specs);
    return {
      databaseUrl: config.DATABASE_URL,
      pooler: config.DATABASE_POOLER,
      redisUrl: REDIS_URL?.trim() ?? '',
    };
  } catch (error) {
    throw error instanceof ConfigError ? new UserError(error.message) : error;
  }
}

/**
 * Checks whether PostgreSQL answers, in the same way as the processes.
 * @param {string} url
 * @param {'none' | 'transaction'} pooler
 * @returns {Promise<string | null>} null, or what is wrong, without a password
 */
async function databaseFault(url, pooler) {
  const database = openDatabase(url, { connectionsMax: 1, pooler });
  try {
    await pingDatabase(database);
    return null;
  } catch (error) {
    return reason(error);
  } finally {
    await closeDatabase(database);
  }
}

/**
 * @param {string} variable
 * @param {string | null} fault
 */
function about(variable, fault) {
  if (fault === null) return null;
  return fault.includes(variable) ? `${fault}.` : `${variable}: ${fault}.`;
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
