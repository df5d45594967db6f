export * from './providerFacts.js';
export * from './readings.js';
export * from './senderTokens.js';
export * from './senders.js';
export * from './stops.js';
export type { BegunStop } from './providerStops.js';
export { countOwnFailure, findOwnApp, reportsOfApp, setAppSecret, type OwnApp } from './ownApps.js';
export { countRecipients } from './recipientCount.js';
