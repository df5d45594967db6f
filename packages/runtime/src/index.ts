export * from './config.js';
export * from './consumer.js';
export * from './lifecycle.js';
export * from './log.js';
export * from './metrics.js';
export { openBell, type Bell, type QueueName, type Ring, type RingData } from './queue.js';
