// `client.ts` has an entry of its own, so that readers of receipts and errors load no HTTP client.
export { reportOf, type ProviderChange } from './changes.js';
export * from './errors.js';
export { KNOWN_CODES } from './errorTable.js';
export * from './explanations.js';
export * from './message.js';
export { messageIdOf } from './messageId.js';
export { REMEDIES } from './remedies.js';
export * from './signature.js';
export * from './webhook.js';
