export { changeSend } from './changeSend.js';
export { createSend, type Creation } from './createSend.js';
export { eraseExpiredCodes } from './eraseCodes.js';
export { type ExhaustedRecipient, listExhaustedRecipients, resetGuessBudgets } from './guessBudgets.js';
export {
  findVerifiedIdentity,
  forgetIdentity,
  listEnforcingApplications,
  recordIdentity,
} from './identities.js';
export * from './providerReports.js';
export { applyDenial, findReportedSends, type ReportedSend, writeReceipts } from './receipts.js';
export * from './takeDeliveries.js';
export { type Guess, type GuessOutcome, verifySend } from './verifySend.js';
export { findSend } from './sendRow.js';
export { eraseRecipient, exportRecipient, type Erased, type KeptOfRecipient } from './recipients.js';
export { readRetention, retainOnwards, type Retained } from './retention.js';
