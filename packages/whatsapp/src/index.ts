// The client has an entry of its own: who only reads receipts or explains errors loads no HTTP client.
export * from './errors.js';
export * from './explanations.js';
export * from './message.js';
export * from './receipts.js';
export * from './signature.js';
