import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RequiredValidatorSpec } from 'envalid';
import { secret, variable } from '../config.js';

interface Several {
  nodes: readonly { host: string; port: number }[];
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

const FORMS =
  'must be redis://… or rediss://… for one server, redis+sentinel://[user:password@]host:port[,host:port…]/<master name>[/<db>] ' +
  'or redis+cluster://[user:password@]host:port[,host:port…], with user and password percent-encoded';
const PORT_MAX = 65_535;
const SERVER = /^redis(s?):\/\/\S+$/;
const SEVERAL =
  /^redis\+(?<kind>sentinel|cluster)(?<tls>\+tls)?:\/\/(?:(?<username>[^:@]*):(?<password>[^:@]+)@)?(?<hosts>[^\s@/?#]+)(?:\/(?<master>[^\s/?#]+)(?:\/(?<db>\d{1,5}))?)?\/*$/;
const HOST = /^(?:\[([0-9a-f:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/i;

/**
 * Reads an address of Redis: `redis://` or `rediss://` for one server, `redis+sentinel://` for what sentinels watch, `redis+cluster://`
 * for a cluster; the last two with TLS as `redis+sentinel+tls://` and `redis+cluster+tls://`.
 *
 * @throws Error whose message completes the sentence "REDIS_URL …" and repeats no part of the address
 */
export function parseRedisAddress(text: string): RedisAddress {
  const server = SERVER.exec(text);
  if (server !== null && URL.canParse(text))
    return { kind: 'server', url: text.replace(/(?<!\/)\/+$/, ''), isTls: server[1] === 's' };
  try {
    return parseSeveral(SEVERAL.exec(text)?.groups ?? {});
  } catch (error) {
    throw new Error(FORMS, { cause: error });
  }
}

/** @throws Error for parts that make no address */
function parseSeveral(parts: Readonly<Record<string, string | undefined>>): RedisAddress {
  const { kind, hosts = '', username = '', password, master, db = '0' } = parts;
  const several = {
    isTls: parts['tls'] !== undefined,
    nodes: hosts.split(',').map(parseNode),
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== undefined && { password: decodeURIComponent(password) }),
  };
  if (kind === 'cluster' && master === undefined) return { kind, ...several };
  if (kind === 'sentinel' && master !== undefined)
    return { kind, ...several, master: decodeURIComponent(master), db: Number(db) };
  throw new Error('sentinels name a master, and a cluster has none');
}

function parseNode(text: string): { host: string; port: number } {
  const [, ipv6, name, port] = HOST.exec(text) ?? [];
  const host = ipv6 ?? name;
  if (host === undefined || Number(port) < 1 || Number(port) > PORT_MAX) throw new Error('no host and port');
  return { host, port: Number(port) };
}

/** The prefix of the queues' keys: a cluster keeps keys with the same text in braces on one node, as BullMQ's scripts need. */
export function keyPrefix(redisUrl: string, prefix: string): string {
  return parseRedisAddress(redisUrl).kind === 'cluster' && !/^[^{]*\{[^}]+\}/.test(prefix)
    ? `{${prefix}}`
    : prefix;
}

/** The environment variables that say where Redis is. */
export const REDIS_ADDRESS = {
  REDIS_URL: secret(
    variable((value) => {
      parseRedisAddress(value);
      return value;
    }),
  ),
  REDIS_CA_FILE: variable(readCertificates, ''),
} satisfies Record<string, RequiredValidatorSpec<string>>;

/** The certificates in a file, in PEM. */
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
