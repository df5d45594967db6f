import type { RedisAddress } from './address.js';

/** The fields of Redis's INFO. */
export type RedisInfo = Readonly<Record<string, string>>;

/** The oldest Redis that BullMQ recommends: 6.2. */
const VERSION_MIN: readonly [number, number] = [6, 2];

/**
 * Why a server that we reached must not be used at all. The sentence begins with "REDIS_URL …".
 *
 * @param info of the server; empty when its user may not read it
 */
export function serverFault(info: RedisInfo, kind: RedisAddress['kind']): string | null {
  // Valkey calls it `server_mode`.
  const mode = info['redis_mode'] ?? info['server_mode'] ?? kind;
  if (mode === 'sentinel')
    return 'names a sentinel: write redis+sentinel://host:port/<master name> to reach what it watches';
  if (kind === 'cluster') return null;
  if (mode === 'cluster') return 'names a node of a cluster: write redis+cluster://host:port[,host:port…]';
  if (info['role'] === 'slave' && kind === 'server')
    return 'names a replica, which refuses writes: name its master, or the sentinels that know it';
  return null;
}

/** Why a server that would take our writes is unfit for queues. The sentence begins with "REDIS_URL …". */
export function settingsFault(info: RedisInfo): string | null {
  const policy = info['maxmemory_policy'];
  if (policy !== undefined && policy !== 'noeviction')
    return `names a Redis with maxmemory-policy ${policy}, which deletes jobs: set it to noeviction`;
  const version = info['redis_version'];
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  const [majorMin, minorMin] = VERSION_MIN;
  if (version !== undefined && (major < majorMin || (major === majorMin && minor < minorMin)))
    return `names a Redis ${version}: the queues need ${VERSION_MIN.join('.')} or newer`;
  return null;
}

const CERTIFICATE_CODES =
  /^(?:(?:DEPTH_ZERO_)?SELF_SIGNED_CERT(?:_IN_CHAIN)?|UNABLE_TO_(?:VERIFY|GET)\w+|CERT_\w+)$/;

/** Why a connection failed, if that does not end by itself. The sentence begins with "REDIS_URL …". */
export function errorFault(error: unknown): string | null {
  const {
    code,
    message = '',
    lastNodeError,
  } = error as Partial<NodeJS.ErrnoException & { lastNodeError: unknown }>;
  if (lastNodeError !== undefined) return errorFault(lastNodeError);
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'leads to a certificate that is not for the name or address by which it was reached';
  if (code !== undefined && CERTIFICATE_CODES.test(code))
    return `leads to a certificate that is not trusted (${code}): name its authority’s file in REDIS_CA_FILE`;
  const [, command] = /NOPERM .*'([^']+)' (?:sub)?command/.exec(message) ?? [];
  if (command !== undefined) return `names a user who may not run ${command}`;
  if (/\bNOAUTH\b/.test(message)) return 'names no password, and Redis asks for one';
  if (/\bWRONGPASS\b|invalid password/.test(message)) return 'has a user or a password that Redis refuses';
  if (/cluster support disabled/.test(message))
    return 'names a Redis that is no part of a cluster: write redis://, or redis+sentinel:// where sentinels watch it';
  if (/unknown command [`']?cluster/i.test(message)) return 'names a server that is no node of a cluster';
  if (/unknown command [`']?sentinel/i.test(message)) return 'names a server that is no sentinel';
  return null;
}
