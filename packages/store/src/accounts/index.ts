export * from './accountChanges.js';
export * from './accounts.js';
export * from './apiKeys.js';
export * from './applications.js';
export * from './breaker.js';
export * from './deleteAccount.js';
export * from './eventWebhooks.js';
export * from './messagePrices.js';
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
