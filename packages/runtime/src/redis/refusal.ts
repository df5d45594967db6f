import type { RedisConnection } from './connect.js';

/**
 * Why Redis takes no write although it answers: it has no memory left, it is a replica or lacks its replicas, it cannot save to its
 * disk, or it can never be used as REDIS_URL names it.
 */
type RedisRefusal = 'out_of_memory' | 'read_only' | 'disk' | 'unfit';

/** Redis can be reached and cannot be used. */
export class RefusedByRedis extends Error {
  override readonly name = 'RefusedByRedis';
  constructor(
    readonly reason: RedisRefusal,
    message: string,
  ) {
    super(message);
  }
}

/** The beginnings of Redis's answers to a write that it does not take. */
const REFUSALS: readonly [RegExp, RedisRefusal][] = [
  [/^OOM\b/, 'out_of_memory'],
  [/^(?:READONLY|NOREPLICAS|MASTERDOWN)\b/, 'read_only'],
  [/^MISCONF\b/, 'disk'],
  [/^(?:NOPERM|NOAUTH|WRONGPASS)\b/, 'unfit'],
];

/**
 * Writes where the queues' keys are. Replicas and a Redis without memory answer reads, and a cluster answers a command without a key on
 * any node.
 *
 * @throws RefusedByRedis when Redis answers that it does not take it, Error when it does not answer
 */
export async function writeToRedis(connection: RedisConnection, prefix: string): Promise<void> {
  try {
    await connection.set(`${prefix}:ready`, '', 'PX', 1_000);
  } catch (error) {
    const { message } = error as Error;
    const [, reason] = REFUSALS.find(([answer]) => answer.test(message)) ?? [];
    if (reason === undefined) throw error;
    throw new RefusedByRedis(reason, `Redis refuses writes: ${message.split('\n')[0]}`);
  }
}

/** @param fault as `RedisListeners.onFault` tells it */
export function unfitRedis(fault: string): RefusedByRedis {
  return new RefusedByRedis(
    fault.startsWith('names a replica') ? 'read_only' : 'unfit',
    `REDIS_URL ${fault}`,
  );
}
