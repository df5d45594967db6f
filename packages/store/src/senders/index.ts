export { applyProviderReport, applySenderReading, learnBusinessAccounts } from './providerFacts.js';
export * from './readings.js';
export { reencryptTokens } from './senderTokens.js';
export {
  addSender,
  AssignmentRefused,
  assignSender,
  editSender,
  isRegistered,
  type ListedSender,
  listSenderDetails,
  listSenders,
  noteSenderSetup,
  pauseSender,
  removeSender,
  resumeSender,
  type Sender,
  type SenderChange,
  type SenderDetails,
  type SenderKey,
  type SenderOwner,
} from './senders.js';
export { changeBlock, deleteOldBlocks, fullRate, isSuperseded } from './blocks.js';
export type { StartedBlock } from './providerBlocks.js';
export { countOwnFailure, findOwnApp, reportsOfApp, setAppSecret, type OwnApp } from './ownApps.js';
export { readRecentMessages } from './recentMessages.js';
