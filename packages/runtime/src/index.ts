export { COMMON_VARIABLES } from './commonVariables.js';
export * from './config.js';
export * from './consumer.js';
export * from './http.js';
export * from './lifecycle.js';
export * from './log.js';
export * from './metrics.js';
export { openDeliveryQueue, REPORTS_PAUSE_MS, type DeliveryQueue } from './deliveryQueue.js';
export { keyPrefix, parseRedisAddress, REDIS_ADDRESS, type RedisAddress } from './redis/address.js';
export { checkRedis, RefusedByRedis, tryRedis } from './redis/check.js';
export { connectRedis, type RedisConnection, type RedisSource } from './redis/connect.js';
export * from './readiness.js';
export { repeatedFaults } from './repeatedFaults.js';
export { refuseUnfitDatabase, startPresence } from './presence.js';
export {
  JOB_OUTCOMES,
  openQueues,
  QUEUE_NAMES,
  type JobData,
  type JobOutcome,
  type JobResult,
  type QueueName,
  type Queues,
} from './queues.js';
export { COMMIT, RELEASE, VERSION } from './version.js';
export * from './tracing.js';
