export * from './accountChanges.js';
export * from './accounts.js';
export * from './accountSearch.js';
export * from './allowedCountries.js';
export * from './apiKeys.js';
export * from './applications.js';
export * from './audit.js';
export * from './breaker.js';
export * from './changeSend.js';
export * from './console/index.js';
export * from './createSend.js';
export * from './database.js';
export * from './defences.js';
export * from './dueSends.js';
export * from './findSend.js';
export * from './guessBudgets.js';
export * from './health.js';
export * from './holds.js';
export * from './invitations.js';
export * from './keyUse.js';
export * from './loggedReads.js';
export * from './loopRuns.js';
export * from './memberChanges.js';
export * from './members.js';
export * from './ownAccount.js';
export * from './passwords.js';
export type { WhichReport, WhichSend } from './readSend.js';
export * from './receipts.js';
export * from './senderFaults.js';
export * from './senders.js';
export * from './senderTokens.js';
export * from './settings.js';
export * from './signInLimits.js';
export * from './signUpLimits.js';
export * from './signInLog.js';
export * from './slots.js';
export { refusedBy, type Refused } from './statements.js';
export * from './trialSends.js';
export * from './users.js';
export * from './userSecurity.js';
export {
  endOtherSessions,
  endSession,
  isSessionConfirmed,
  isSessionOver,
  listUserSessions,
  noteSessionUse,
  SESSION_MS_MAX,
  type UserSession,
} from './userSessions.js';
export { isId, newId } from './identifiers.js';
