import { Redis } from 'ioredis';
import pg from 'pg';

/**
 * Asks a PostgreSQL server whether it is there.
 * @param {string} url
 * @returns {Promise<string | null>} null, or what is wrong in a few words that hold neither password nor path
 */
export async function postgresFault(url) {
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)) return 'it is not a postgresql:// address';
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
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
 * Asks a Redis server whether it is there.
 * @param {string} url
 * @returns {Promise<string | null>} null, or what is wrong in a few words that hold neither password nor path
 */
export async function redisFault(url) {
  if (!/^rediss?:\/\//.test(url) || !URL.canParse(url)) return 'it is not a redis:// address';
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 5000,
    commandTimeout: 5000,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  /** @type {unknown} */
  let last;
  client.on('error', (error) => (last = error));
  try {
    await client.connect();
    await client.ping();
    return null;
  } catch (error) {
    return `Redis at ${new URL(url).host} cannot be used (${reason(last ?? error)})`;
  } finally {
    client.disconnect();
  }
}

/** @param {unknown} error */
function reason(error) {
  const { code, message } = /** @type {{ code?: string, message?: string }} */ (error);
  return message || code || 'unknown fault';
}
