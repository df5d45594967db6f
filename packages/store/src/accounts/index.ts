export {
  changeAccount,
  expireCredits,
  grantCredits,
  GrantRefused,
  resumeAccount,
  suspendAccount,
} from './accountChanges.js';
export {
  type Account,
  createAccount,
  findAccount,
  type NewAccount,
  SENDER_POLICIES,
  type SenderPolicy,
} from './accounts.js';
export {
  type ApiKey,
  type Caller,
  createApiKey,
  findCaller,
  listAccountKeys,
  listApiKeys,
  listKeysEnding,
  listValidKeys,
  recordKeyUsage,
  type RefusedKey,
  revokeApiKey,
} from './apiKeys.js';
export {
  type Application,
  type ApplicationSummary,
  createApplication,
  findApplication,
  findApplications,
  limitApplication,
  listApplications,
  renameApplication,
  setIdentityCheck,
} from './applications.js';
export {
  type BreakerTrip,
  type CountryEvidence,
  listBreakerTrips,
  readBreakerEvidence,
  resetBreaker,
  setBreaker,
  tripBreaker,
} from './breaker.js';
export {
  cancelDeletion,
  deleteAccount,
  deleteDueAccounts,
  readDeletion,
  scheduleDeletion,
} from './deleteAccount.js';
export {
  endEventWebhook,
  type EventDelivery,
  type EventWebhook,
  findEventWebhook,
  listEventDeliveries,
  removeEventWebhook,
  repeatEvent,
  rotateEventSecret,
  setEventWebhook,
  takeEvent,
  testEventWebhook,
} from './eventWebhooks.js';
export {
  type MessagePrice,
  type MessagePrices,
  PRICE_MAX,
  readMessagePrices,
  setMessagePrice,
} from './messagePrices.js';
export {
  deleteOldRefusedRequests,
  REFUSED_REQUEST_DAYS,
  type RefusedRequest,
  storeRefusedRequests,
} from './refusedRequests.js';
export {
  changeSetting,
  EFFECT_COUNT_MAX,
  isStaffTwoFactorRequired,
  type NumericSetting,
  type OptionalSetting,
  readSettingEffects,
  readSettings,
  SETTING_BOUNDS,
  type SettingEffects,
  type Settings,
  STAFF_TWO_FACTOR,
  USUAL_CODE_VALIDITY,
} from './settings.js';
export {
  createOwnAccount,
  type FirstApplication,
  mayCreateAccount,
  type NewOwnAccount,
  readLiveCountries,
  readTrialSends,
} from './trialAccounts.js';
export {
  deleteEndedKeys,
  hasTriedSend,
  createVisitKey,
  logTriedSend,
  newTryoutIdempotencyKey,
  takeTryout,
} from './tryouts.js';
export {
  allowCountries,
  allowPremiumRate,
  CEILING_BOUNDS,
  findAbuseControls,
  setCeilings,
  type AbuseControls,
  type Ceilings,
} from './abuseControls.js';
