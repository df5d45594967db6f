import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseAddress, type Address } from '../addresses.js';
import { secret, variable } from '../config.js';

/** The parsed REDIS_URL. ioredis reads the address of one server itself. */
export type RedisAddress = { isTls: boolean } & (
  | { kind: 'server'; url: string }
  | ({ kind: 'sentinel'; master: string; db: number } & Pick<Address, 'servers' | 'user'>)
  | ({ kind: 'cluster' } & Pick<Address, 'servers' | 'user'>)
);

const SCHEMES = [
  'redis',
  'rediss',
  'redis+sentinel',
  'redis+sentinel+tls',
  'redis+cluster',
  'redis+cluster+tls',
] as const;

/**
 * Parses a Redis address: `redis://` or `rediss://` for one server, `redis+sentinel://` for a master behind sentinels, `redis+cluster://`
 * for a cluster. The last two use TLS as `redis+sentinel+tls://` and `redis+cluster+tls://`.
 *
 * @throws Error with a message that completes the sentence "REDIS_URL …" and repeats no part of the address
 */
export function parseRedisAddress(text: string): RedisAddress {
  const { scheme, user, servers, path, query } = parseAddress(text, SCHEMES);
  const isTls = scheme === 'rediss' || scheme.endsWith('+tls');
  if (!scheme.includes('+')) {
    if (servers.length !== 1)
      throw new Error('must name one server: redis+sentinel:// and redis+cluster:// name several');
    if (!/^\/?\d*$/.test(path)) throw new Error('must have nothing but the number of a database at its end');
    return { kind: 'server', isTls, url: text };
  }
  if (query !== '') throw new Error('must have no query: only redis:// and rediss:// may have one');
  if (scheme.startsWith('redis+cluster')) {
    if (!/^\/?$/.test(path)) throw new Error('must have nothing after the hosts of a cluster');
    return { kind: 'cluster', isTls, servers, user };
  }
  const [, master, db = '0'] = /^\/([^/]+)(?:\/(\d+))?\/?$/.exec(path) ?? [];
  if (master === undefined)
    throw new Error(
      'must end with the name of the master, and may add the number of a database: redis+sentinel://host:port,host:port/NAME/1',
    );
  return { kind: 'sentinel', isTls, servers, user, master: decodeURIComponent(master), db: Number(db) };
}

/** The environment variables of the connection to Redis. */
export const REDIS_ADDRESS = {
  REDIS_URL: secret(
    variable((value) => {
      parseRedisAddress(value);
      return value;
    }),
  ),
  REDIS_CA_FILE: variable(readCertificates, ''),
};

/** Returns the certificates of a PEM file. */
function readCertificates(path: string): string {
  try {
    const text = readFileSync(path, 'utf8');
    void new X509Certificate(text);
    return text;
  } catch (error) {
    throw new Error(`must be a file of certificates in PEM (${(error as NodeJS.ErrnoException).code})`, {
      cause: error,
    });
  }
}
