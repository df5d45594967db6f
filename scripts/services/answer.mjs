import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError, openQueues, readConfig, redisAddress } from '@onecode/runtime';
import pg from 'pg';
import { UserError } from '../user-error.mjs';

const START_MS_MAX = 60_000;
const REDIS_MS_MAX = 3_000;

/**
 * Checks whether a PostgreSQL server that was started here answers.
 * @param {string} url of one server
 * @param {{ isEncrypted?: boolean }} [options] isEncrypted: with TLS, without a check of the certificate
 * @returns {Promise<string | null>} null, or what is wrong in a few words that hold neither password nor path
 */
export async function postgresFault(url, { isEncrypted = false } = {}) {
  const ssl = isEncrypted && { rejectUnauthorized: false };
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000, ssl });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
    return null;
  } catch (error) {
    return `PostgreSQL at ${new URL(url).host} cannot be used (${reason(error)})`;
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * Checks whether Redis answers and is usable.
 * @param {string} url in one of the forms of REDIS_URL
 * @returns {Promise<string | null>} null, or what is wrong in a few words that hold neither password nor path
 */
export async function redisFault(url) {
  try {
    const config = readConfig({ REDIS_URL: url }, { REDIS_URL: redisAddress() });
    const queues = openQueues({ ...config, QUEUE_PREFIX: 'onecode' });
    const deadline = Date.now() + REDIS_MS_MAX;
    while (!queues.isReady() && Date.now() < deadline) await delay(20);
    await queues.ping().finally(() => queues.close());
    return null;
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    return `Redis at ${url.replace(/^.*:\/\/(?:[^@/]*@)?([^/]*).*$/, '$1')} cannot be used (${reason(error)})`;
  }
}

/**
 * Returns an error's message, or else its code: errors of connections to several addresses have no message.
 * @param {unknown} error
 */
export function reason(error) {
  const { code, message } = /** @type {{ code?: string, message?: string }} */ (error);
  return message || code || 'unknown fault';
}

/**
 * Waits until a service that was started here answers.
 * @param {string} title
 * @param {import('../processes/processes.mjs').Started} started
 * @param {import('../processes/logs.mjs').Logs} logs its last lines explain an early end
 * @param {() => Promise<string | null>} fault null once it answers
 * @throws {UserError} when it ends, or does not answer within a minute
 */
export async function waitForAnswer(title, { name, exited }, logs, fault) {
  /** @type {string | undefined} */
  let end;
  void exited.then((how) => (end = how));
  const deadline = Date.now() + START_MS_MAX;
  for (let wrong = await fault(); wrong !== null; wrong = await fault()) {
    if (end !== undefined || Date.now() > deadline) {
      const reasonGiven = end ?? wrong;
      throw new UserError(
        `${logs.tail(name, 5)}\n${title} did not start (${reasonGiven}); its log is ${logs.fileOf(name)}.`,
      );
    }
    await delay(50);
  }
}
