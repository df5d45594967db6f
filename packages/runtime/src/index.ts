export { parseRedisAddress } from './addresses.js';
export * from './config.js';
export * from './http.js';
export * from './lifecycle.js';
export * from './log.js';
export * from './metrics.js';
export * from './presence.js';
export * from './queues.js';
export * from './readiness.js';
export {
  checkRedis,
  connectRedis,
  keyPrefix,
  RefusedByRedis,
  tryRedis,
  type RedisConnection,
} from './redis.js';
export * from './tracing.js';
export * from './version.js';
