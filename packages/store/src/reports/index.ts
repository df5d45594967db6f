export { type AccountDetails, findAccountDetails, type FoundAccount, searchAccounts } from './accounts.js';
export { type BreakerTrip, listBreakerTrips } from './breakerTrips.js';
export { deliveryWait, type DeliveryProgress } from './deliveryWait.js';
export { countDeliveryHours, readDeliveries } from './deliveryHours.js';
export { type HeldSends, listHoldsOf, readHeldSends } from './heldSends.js';
export { countHeldMessages } from './heldMessages.js';
export { type ExhaustedRecipient, listExhaustedRecipients } from './exhaustedRecipients.js';
export { countDenials, type DenialCount } from './denials.js';
export {
  type Balance,
  findBalance,
  type LedgerEntry,
  type LedgerFault,
  listLedger,
  readStatement,
  type Statement,
  type Units,
  verifyLedger,
} from './ledger.js';
export * from './messageCosts.js';
export { overview, type Overview, type OverviewQuestion, type SendStatistics } from './overview.js';
export * from './refusedRequests.js';
export { exportRecipient } from './recipientExport.js';
export { type Found, search, searchAccountsByEmail, type SearchTerms } from './search.js';
export { findSendAccount, findSendDetails, type SendDetails } from './sendDetails.js';
export { listSends, type SendFilter, type SendPage } from './sendList.js';
export { readSenderActivity, type SenderActivity } from './senderActivity.js';
export type { SendSummary } from './sendSummary.js';
export { InvalidCursor, type Page } from './pages.js';
export { aggregateDays } from './dailyStatistics.js';
export { buildTimeline, type TimelineEvent } from './sendTimeline.js';
export { UnknownTimeZone } from './timeZones.js';
