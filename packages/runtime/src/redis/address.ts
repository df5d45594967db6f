import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { splitAddress, splitServer } from '../addresses.js';
import { secret, variable } from '../config.js';

interface Several {
  nodes: readonly { host: string; port: number }[];
  /** Absent for the default user. */
  username?: string;
  password?: string;
}

/** The parsed REDIS_URL. */
export type RedisAddress = { isTls: boolean } & (
  | { kind: 'server'; url: string }
  | ({ kind: 'sentinel'; master: string; db: number } & Several)
  | ({ kind: 'cluster' } & Several)
);

const SCHEMES = [
  'redis',
  'rediss',
  'redis+sentinel',
  'redis+sentinel+tls',
  'redis+cluster',
  'redis+cluster+tls',
] as const;
const DATABASE = /^\d{0,5}$/;
const BAD_DATABASE = 'must have a number as its database, at the end';

/**
 * Parses a Redis address: `redis://` or `rediss://` for one server, `redis+sentinel://` for a master behind sentinels, `redis+cluster://`
 * for a cluster. The last two use TLS as `redis+sentinel+tls://` and `redis+cluster+tls://`.
 *
 * @throws Error with a message that completes the sentence "REDIS_URL …" and repeats no part of the address
 */
export function parseRedisAddress(text: string): RedisAddress {
  const { scheme, user, hosts, path, query } = splitAddress(text, SCHEMES);
  const isTls = scheme === 'rediss' || scheme.endsWith('+tls');
  const pathRead = path.replace(/(?<!\/)\/+$/, '');
  const [, first = '', second, rest] = pathRead.split('/');
  const credentials = parseUser(user);
  if (!scheme.includes('+')) {
    if (hosts.includes(','))
      throw new Error('must name one server: redis+sentinel:// and redis+cluster:// name several');
    splitServer(hosts);
    if (!DATABASE.test(first) || second !== undefined) throw new Error(BAD_DATABASE);
    const url = `${scheme}://${user && `${user}@`}${hosts}${pathRead}${query && `?${query}`}`;
    return { kind: 'server', url, isTls };
  }
  if (query !== '') throw new Error('must have no query: only redis:// and rediss:// may have one');
  const several = { isTls, nodes: hosts.split(',').map(parseNode), ...credentials };
  if (scheme.startsWith('redis+cluster')) {
    if (first !== '') throw new Error('must have nothing after the hosts of a cluster');
    return { kind: 'cluster', ...several };
  }
  if (first === '')
    throw new Error('must name a master after the sentinels: redis+sentinel://host:port,host:port/NAME');
  if (!DATABASE.test(second ?? '') || rest !== undefined) throw new Error(BAD_DATABASE);
  return { kind: 'sentinel', ...several, master: decodeURIComponent(first), db: Number(second ?? '0') };
}

/** Parses a user and a password, or a password alone. */
function parseUser(user: string): Pick<Several, 'username' | 'password'> {
  if (user === '') return {};
  const [username = '', ...rest] = user.split(':');
  const password = rest.join(':');
  if (password === '') throw new Error('must have a password for its user: user:password@');
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    password: decodeURIComponent(password),
  };
}

function parseNode(server: string): { host: string; port: number } {
  const { host, port } = splitServer(server);
  if (port === null) throw new Error('must have a port for each host: host:port');
  return { host: host.replace(/^\[|\]$/g, ''), port };
}

/** Returns the prefix of the queues' keys. In a cluster it has braces, which keep all keys on one node, as BullMQ's scripts require. */
export function keyPrefix(redisUrl: string, prefix: string): string {
  return parseRedisAddress(redisUrl).kind === 'cluster' && !/^[^{]*\{[^}]+\}/.test(prefix)
    ? `{${prefix}}`
    : prefix;
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
