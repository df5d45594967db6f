export * from './config.js';
export * from './consumer.js';
export * from './http.js';
export * from './lifecycle.js';
export * from './log.js';
export * from './metrics.js';
export { openBell, type Bell, type Ring } from './bell.js';
export { openQueues, QUEUE_NAMES, type QueueName, type Queues, type RingData } from './queues.js';
