export * from './accountChanges.js';
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
export * from './breaker.js';
export * from './deleteAccount.js';
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
export * from './refusedRequests.js';
export * from './settings.js';
export * from './trialAccounts.js';
export * from './tryouts.js';
export {
  allowCountries,
  allowPremiumRate,
  CEILING_BOUNDS,
  findAbuseControls,
  setCeilings,
  type AbuseControls,
  type Ceilings,
} from './abuseControls.js';
