export {
  applyProviderReport,
  applySenderReading,
  listSenderKnowledge,
  requestReading,
  takeDueReading,
} from './providerFacts.js';
export { reencryptTokens } from './senderTokens.js';
export * from './senders.js';
export { changeBlock, isSuperseded } from './blocks.js';
export { countOwnFailure, findOwnApp, reportsOfApp, type OwnApp } from './ownApps.js';
