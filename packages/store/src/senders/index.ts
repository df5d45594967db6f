export * from './providerFacts.js';
export * from './readings.js';
export * from './senderTokens.js';
export * from './senders.js';
export * from './blocks.js';
export type { StartedBlock } from './providerBlocks.js';
export { countOwnFailure, findOwnApp, reportsOfApp, setAppSecret, type OwnApp } from './ownApps.js';
export { countRecipients } from './recipientCount.js';
