export * from './config.js';
export * from './lifecycle.js';
export * from './log.js';
export * from './metrics.js';
export * from './queue.js';
