// `client.ts` has an entry of its own, so that readers of receipts and errors load no HTTP client.
export * from './errors.js';
export * from './explanations.js';
export * from './message.js';
export * from './signature.js';
export * from './webhook.js';
