import { createHash, randomBytes } from 'node:crypto';
import { Cluster, type Redis } from 'ioredis';
import { keyPrefix, parseRedisAddress } from './address.js';
import { connectRedis, type RedisConnection, type RedisSource } from './connect.js';
import { errorFault, settingsFault, type RedisInfo } from './faults.js';
import { findTlsMismatch } from './tlsMismatch.js';

/** The commands that BullMQ's scripts use, each with arguments that it takes; `k:` and a letter of `KEY_TYPES` stand for a key. */
export const SCRIPT_COMMANDS = `
  del k:s / exists k:s / get k:s / hdel k:h a / hexists k:h a / hget k:h a / hgetall k:h / hincrby k:h a 1 / hlen k:h / hmget k:h a /
  hmset k:h a 1 / hset k:h a 1 / incr k:s / incrby k:s 1 / rpush k:l a / lpush k:l a / lindex k:l 0 / llen k:l / lpos k:l a /
  lrange k:l 0 1 / lrem k:l 0 b / lset k:l 0 a / ltrim k:l 0 1 / lpop k:l / rpoplpush k:l k:l / rpop k:l / persist k:s /
  pexpire k:s 1000 / pexpireat k:s 9999999999999 / pttl k:s / rename k:s k:s / sadd k:m a / scard k:m / set k:s 1 / sismember k:m a /
  smembers k:m / srem k:m a / time / type k:s / unlink k:s / xadd k:x * a 1 / xdel k:x 0-1 / xlen k:x / xrange k:x - + /
  xread STREAMS k:x 0 / xtrim k:x MAXLEN 1 / zadd k:z 1 a / zcard k:z / zcount k:z 0 1 / zlexcount k:z - + / zrange k:z 0 1 /
  zrangebylex k:z - + / zrangebyscore k:z 0 1 / zrevrange k:z 0 1 / zrevrangebyscore k:z 1 0 / zscore k:z a / zrem k:z b /
  zremrangebyrank k:z 1 2 / zremrangebyscore k:z 2 3 / zpopmin k:z`
  .split('/')
  .map((command) => command.trim().split(/\s+/));
/** String, hash, list, set, stream, sorted set. */
const KEY_TYPES = ['s', 'h', 'l', 'm', 'x', 'z'];

/** Runs each command, deletes what they made, and returns the errors by command. */
const SCRIPT = `
  local errors = {}
  for _, command in ipairs(cjson.decode(ARGV[1])) do
    local reply = redis.pcall(unpack(command))
    if type(reply) == 'table' and reply.err then errors[#errors + 1] = { command[1], reply.err } end
  end
  redis.pcall('DEL', unpack(KEYS))
  return cjson.encode(errors)`;

const CHECK_MS_MAX = 3_000;
const REDIS_PORT = 6379;

/**
 * Tries on a connection that is ready what the queues need: a fit server, every command, and the rights to run them on the queues' keys.
 *
 * @param prefix of the keys, as `keyPrefix` returns it
 * @returns what does not end by itself, as a sentence that begins with "REDIS_URL …", or null
 * @throws Error when Redis does not answer
 */
export async function tryRedis(connection: RedisConnection, prefix: string): Promise<string | null> {
  const errors: (readonly [command: string, error: string])[] = [];
  const attempt = async (command: string, run: () => Promise<unknown>): Promise<unknown> => {
    try {
      return await run();
    } catch (error) {
      const { name, message } = error as Error;
      if (name !== 'ReplyError') throw error;
      errors.push([command, message]);
      return null;
    }
  };
  for (const master of mastersOf(connection)) {
    const fault = settingsFault(infoOf(await attempt('info', () => master.info())));
    if (fault !== null) return fault;
  }
  const key = `${prefix}:check-${randomBytes(6).toString('hex')}`;
  const keys = KEY_TYPES.map((type) => `${key}:${type}`);
  const commands = SCRIPT_COMMANDS.map((words) => words.map((word) => word.replace(/^k:/, `${key}:`)));
  const answer = await attempt('eval', () =>
    connection.eval(SCRIPT, keys.length, ...keys, JSON.stringify(commands)),
  );
  if (typeof answer === 'string' && answer !== '{}')
    errors.push(...(JSON.parse(answer) as [string, string][]));
  await attempt('evalsha', () => connection.evalsha(createHash('sha1').update('').digest('hex'), 1, key));
  await attempt('bzpopmin', () => connection.bzpopmin(key, 0.01));
  return commandsFault(errors, prefix);
}

/**
 * Reads the settings again, which may change while a connection is open. One short answer of each master.
 *
 * @returns as `tryRedis`
 * @throws Error when Redis does not answer
 */
export async function findSettingsFault(connection: RedisConnection): Promise<string | null> {
  try {
    const answers = await Promise.all(mastersOf(connection).map((master) => master.info('memory')));
    return answers.map((answer) => settingsFault(infoOf(answer))).find((fault) => fault !== null) ?? null;
  } catch (error) {
    const fault = errorFault(error);
    if (fault === null) throw error;
    return fault;
  }
}

const mastersOf = (connection: RedisConnection): Redis[] =>
  connection instanceof Cluster ? connection.nodes('master') : [connection];

function commandsFault(errors: readonly (readonly [string, string])[], prefix: string): string | null {
  const namesOf = (pattern: RegExp): string =>
    [...new Set(errors.filter(([, error]) => pattern.test(error)).map(([command]) => command))].join(', ');
  const missing = namesOf(/unknown (?:redis )?command/i);
  if (missing !== '') return `names a Redis without the commands ${missing}`;
  if (namesOf(/access (?:a|at least one of the|one of the) keys?|keys? (?:used|mentioned)/i) !== '')
    return `names a user who may not use the keys ${prefix}:*`;
  const refused = namesOf(/NOPERM|ACL failure|can't run this command|no permissions/i);
  return refused === '' ? null : `names a user who may not run ${refused}`;
}

function infoOf(answer: unknown): RedisInfo {
  if (typeof answer !== 'string') return {};
  return Object.fromEntries(
    answer
      .split('\r\n')
      .filter((line) => line.includes(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
}

/**
 * Looks for a reason why Redis can never be used as it is. One that cannot be reached just now is none.
 *
 * @param prefix the value of QUEUE_PREFIX
 * @returns a sentence that begins with "REDIS_URL …", or null
 */
export async function findRedisFault(source: RedisSource, prefix: string): Promise<string | null> {
  let report: (fault: string | null) => void = () => {};
  let timer: NodeJS.Timeout | undefined;
  const reported = new Promise<string | null>((resolve) => {
    report = resolve;
    timer = setTimeout(resolve, CHECK_MS_MAX, null);
  });
  const connection = connectRedis(source, 'enqueue', {
    onFault: (fault) => report(fault),
    onError: () => report(null),
  });
  connection.once('ready', () => {
    tryRedis(connection, keyPrefix(source.redisUrl, prefix)).then(report, (error: unknown) =>
      report(errorFault(error)),
    );
  });
  const fault = await reported;
  clearTimeout(timer);
  const hasAnswered = connection.status === 'ready';
  connection.disconnect();
  return fault ?? (hasAnswered ? null : await findMismatch(source.redisUrl));
}

/** The connection tells it too, but after its error. */
async function findMismatch(redisUrl: string): Promise<string | null> {
  const address = parseRedisAddress(redisUrl);
  if (address.kind !== 'server') {
    const [first] = address.nodes;
    return first === undefined ? null : findTlsMismatch(first, address.isTls);
  }
  const { hostname, port } = new URL(address.url);
  const where = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port === '' ? REDIS_PORT : port) };
  return findTlsMismatch(where, address.isTls);
}
