export * from './client.js';
export * from './errors.js';
export * from './explanations.js';
export * from './message.js';
export * from './receipts.js';
export * from './signature.js';
