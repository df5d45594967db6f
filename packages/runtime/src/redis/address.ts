import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RequiredValidatorSpec } from 'envalid';
import { secret, variable } from '../config.js';

interface Node {
  host: string;
  port: number;
}

interface Several {
  nodes: readonly Node[];
  /** Absent for the default user. */
  username?: string;
  password?: string;
}

/** Where Redis is, as REDIS_URL says it. */
export type RedisAddress = { isTls: boolean } & (
  | { kind: 'server'; url: string }
  | ({ kind: 'sentinel'; master: string; db: number } & Several)
  | ({ kind: 'cluster' } & Several)
);

const SENTINEL_FORM = 'redis+sentinel://[user:password@]host:port[,host:port…]/<master name>[/<db>]';
const CLUSTER_FORM = 'redis+cluster://[user:password@]host:port[,host:port…]';
const PORT_MAX = 65_535;
const PORT = /^(?:\[([0-9a-f:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/i;

/**
 * Reads an address of Redis: `redis://` or `rediss://` for one server, `redis+sentinel://` for what sentinels watch, `redis+cluster://`
 * for a cluster; the last two with TLS as `redis+sentinel+tls://` and `redis+cluster+tls://`. User and password are percent-encoded.
 *
 * @throws Error whose message completes the sentence "REDIS_URL …" and repeats no part of the address
 */
export function parseRedisAddress(text: string): RedisAddress {
  const [, scheme = '', tls, rest = ''] =
    /^([a-z]+(?:\+(?:sentinel|cluster))?)(\+tls)?:\/\/(\S+)$/.exec(text) ?? [];
  const isTls = tls !== undefined;
  if (scheme === 'redis+sentinel') return { ...parseSentinel(rest.replace(/\/+$/, '')), isTls };
  if (scheme === 'redis+cluster') return { ...parseCluster(rest.replace(/\/+$/, '')), isTls };
  if ((scheme !== 'redis' && scheme !== 'rediss') || isTls || !URL.canParse(text))
    throw new Error(
      'must be an address that begins with redis://, rediss://, redis+sentinel:// or redis+cluster://',
    );
  return { kind: 'server', url: text.replace(/\/+$/, ''), isTls: scheme === 'rediss' };
}

function parseSentinel(rest: string): Omit<Extract<RedisAddress, { kind: 'sentinel' }>, 'isTls'> {
  const [authority = '', master = '', db = '0', ...more] = rest.split('/');
  if (master === '' || more.length > 0 || !/^\d{1,5}$/.test(db))
    throw new Error(`must name sentinels and their master: ${SENTINEL_FORM}`);
  return {
    kind: 'sentinel',
    ...parseAuthority(authority, SENTINEL_FORM),
    master: decoded(master, SENTINEL_FORM),
    db: Number(db),
  };
}

function parseCluster(rest: string): Omit<Extract<RedisAddress, { kind: 'cluster' }>, 'isTls'> {
  if (/[/?#]/.test(rest))
    throw new Error(
      `must name nodes of the cluster and, as a cluster has only one, no database: ${CLUSTER_FORM}`,
    );
  return { kind: 'cluster', ...parseAuthority(rest, CLUSTER_FORM) };
}

/** `[user:password@]host:port[,host:port…]`. */
function parseAuthority(text: string, form: string): Several {
  const at = text.lastIndexOf('@');
  const nodes = text
    .slice(at + 1)
    .split(',')
    .map((node) => parseNode(node, form));
  if (at === -1) return { nodes };
  const [username = '', password, ...more] = text.slice(0, at).split(':');
  if (password === undefined || password === '' || more.length > 0)
    throw new Error(`must have user and password percent-encoded, as in ${form}`);
  return {
    nodes,
    ...(username !== '' && { username: decoded(username, form) }),
    password: decoded(password, form),
  };
}

function parseNode(text: string, form: string): Node {
  const [, ipv6, name, port] = PORT.exec(text) ?? [];
  const host = ipv6 ?? name;
  if (host === undefined || Number(port) < 1 || Number(port) > PORT_MAX)
    throw new Error(`must have a host and a port in each place, as in ${form}`);
  return { host, port: Number(port) };
}

function decoded(text: string, form: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error(`must have user and password percent-encoded, as in ${form}`);
  }
}

/**
 * The prefix of the queues' keys. A cluster keeps keys with the same text in braces on the same node, and a BullMQ script needs all of
 * its keys there.
 */
export function keyPrefix(redisUrl: string, prefix: string): string {
  return parseRedisAddress(redisUrl).kind === 'cluster' && !/\{[^}]+\}/.test(prefix) ? `{${prefix}}` : prefix;
}

/** The environment variables that say where Redis is. */
export const REDIS_ADDRESS = {
  REDIS_URL: secret(
    variable((value) => {
      parseRedisAddress(value);
      return value;
    }),
  ),
  REDIS_CA_FILE: certificates(),
} satisfies Record<string, RequiredValidatorSpec<string>>;

/** The certificates in a file, in PEM; empty without one. */
function certificates(): RequiredValidatorSpec<string> {
  return variable((path) => {
    const text = readText(path);
    for (const certificate of text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [
      '',
    ])
      if (!isCertificate(certificate)) throw new Error('must be a file of certificates in PEM');
    return text;
  }, '');
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`must be a file that can be read (${(error as NodeJS.ErrnoException).code})`, {
      cause: error,
    });
  }
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).fingerprint256 !== '';
  } catch {
    return false;
  }
}
