export {
  allowCostly,
  allowCountries,
  CEILING_BOUNDS,
  findAbuseControls,
  setCeilings,
  type AbuseControls,
  type Ceilings,
} from './accounts/abuseControls.js';
export * from './accounts/accountChanges.js';
export {
  createAccount,
  findAccount,
  SENDER_POLICIES,
  type Account,
  type NewAccount,
  type SenderPolicy,
} from './accounts/accounts.js';
export {
  createApiKey,
  findCaller,
  listApiKeys,
  listKeysEnding,
  listValidKeys,
  readCallersVersion,
  recordKeyUsage,
  revokeApiKey,
  type ApiKey,
  type Caller,
  type RefusedKey,
} from './accounts/apiKeys.js';
export {
  createApplication,
  findApplication,
  findApplications,
  limitApplication,
  listApplications,
  renameApplication,
  setIdentityCheck,
  type Application,
  type ApplicationSummary,
} from './accounts/applications.js';
export * from './accounts/breaker.js';
export {
  deleteOldRefusedRequests,
  REFUSED_REQUEST_DAYS,
  storeRefusedRequests,
  type RefusedRequest,
} from './accounts/refusedRequests.js';
export {
  cancelDeletion,
  deleteAccount,
  deleteDueAccounts,
  readDeletion,
  scheduleDeletion,
  type DeletedAccount,
} from './accounts/deleteAccount.js';
export * from './accounts/settings.js';
export * from './accounts/trialAccounts.js';
export * from './accounts/tryouts.js';
export {
  audited,
  findLostEntries,
  listAuditEntries,
  logEntry,
  NOT_SIGNED_IN,
  type Actor,
  type AuditEntry,
  type AuditFilter,
  type NewAuditEntry,
} from './audit/audit.js';
export * from './audit/loggedReads.js';
export { connectionFault } from './client/connectionFaults.js';
export * from './client/database.js';
export { isId, newId } from './client/ids.js';
export { UnusableDatabase } from './client/poolers.js';
export { checkDatabase, findRightsFault } from './client/rights.js';
export { refusedBy, refusesValues, type Refused } from './client/sql.js';
export * from './holds/heldSends.js';
export * from './holds/holds.js';
export * from './mails/balanceAlerts.js';
export { deleteExpiredVerifications } from './mails/links.js';
export * from './mails/outbox.js';
export * from './mails/staffAlerts.js';
export { muteMails, noteMailSender, readMutedMails, sendsMail } from './mails/writeMails.js';
export * from './reports/accounts.js';
export * from './reports/denials.js';
export { findLatestRecipient, readDatabaseFacts } from './reports/deployment.js';
export * from './reports/health.js';
export * from './reports/healthReader.js';
export * from './reports/heartbeats.js';
export * from './reports/incidents.js';
export * from './reports/ledger.js';
export * from './accounts/messagePrices.js';
export * from './reports/messageCosts.js';
export * from './reports/overview.js';
export { InvalidCursor, type Page } from './reports/pages.js';
export * from './reports/processes.js';
export * from './reports/refusedRequests.js';
export * from './reports/restored.js';
export * from './reports/sendDetails.js';
export * from './reports/search.js';
export { timelineOf, type TimelineEvent } from './reports/sendTimeline.js';
export * from './reports/senderActivity.js';
export * from './reports/sendList.js';
export type { SendSummary } from './reports/sendSummary.js';
export * from './reports/traffic.js';
export { findOwnApp, reportsOfApp, setAppSecret, type OwnApp } from './senders/ownApps.js';
export * from './senders/providerChanges.js';
export * from './senders/providerFacts.js';
export { countRecipients } from './senders/recipientCount.js';
export * from './senders/readings.js';
export type { BegunStop } from './senders/providerStops.js';
export * from './senders/recipientWindows.js';
export * from './senders/senders.js';
export * from './senders/senderTokens.js';
export * from './senders/stops.js';
export { AccountBusy } from './sends/accountQueues.js';
export * from './sends/changeSend.js';
export * from './sends/createSend.js';
export * from './sends/deleteOldReports.js';
export { foldDays } from './sends/dailyStatistics.js';
export * from './sends/denials.js';
export * from './sends/eraseCodes.js';
export {
  listExhaustedRecipients,
  resetGuessCount,
  resetOtherBudgets,
  resetRecipient,
  type ExhaustedRecipient,
} from './sends/guessBudgets.js';
export * from './sends/identities.js';
export { countAttemptsWith, findSend, type WhichReport, type WhichSend } from './sends/readSend.js';
export * from './sends/receipts.js';
export { eraseRecipient, exportRecipient, type Erased, type KeptOfRecipient } from './sends/recipients.js';
export { readRetention, retainAll, retainOnwards, type Retained } from './sends/retention.js';
export * from './sends/takeDeliveries.js';
export * from './sends/verifySend.js';
export { deleteEndedTries } from './users/countedTries.js';
export * from './users/invitations.js';
export * from './users/mailedLinks.js';
export * from './webhooks/eventWebhooks.js';
export * from './users/members.js';
export * from './users/passkeys.js';
export * from './users/passwords.js';
export * from './users/signInLimits.js';
export * from './users/signInLog.js';
export * from './users/signUpLimits.js';
export * from './users/users.js';
export * from './users/userSecurity.js';
export {
  endOtherSessions,
  endSession,
  isSessionConfirmed,
  isSessionOver,
  keepBothFactors,
  listUserSessions,
  touchSession,
  SESSION_MS_MAX,
  type UserSession,
} from './users/userSessions.js';
