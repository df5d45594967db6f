export {
  applyProviderReport,
  applySenderReading,
  listSenderKnowledge,
  requestReading,
  takeDueReading,
} from './providerFacts.js';
export { findOwnApp, reencryptTokens, type OwnApp } from './secrets.js';
export * from './senders.js';
export { changeBlock, isSuperseded } from './blocks.js';
