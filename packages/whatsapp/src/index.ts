// `client.ts` has its own entry point, so that code that uses only receipts and errors loads no HTTP client.
export { classifyError, explainError, KNOWN_ERRORS, type Explanation } from './errors.js';
export * from './message.js';
export * from './signature.js';
export * from './webhook.js';
