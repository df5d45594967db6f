// `client.ts` has its own entry point, so that code that uses only receipts and errors loads no HTTP client.
export * from './errors.js';
export { KNOWN_ERRORS } from './errorTable.js';
export * from './message.js';
export * from './signature.js';
export * from './webhook.js';
