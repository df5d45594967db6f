export {
  type Account,
  CEILING_BOUNDS,
  changeAccount,
  createAccount,
  findAccount,
  type NewAccount,
  resetBreaker,
  SENDER_POLICIES,
  type SenderPolicy,
  setSuspension,
} from './accounts.js';
export {
  type ApiKey,
  type Caller,
  createApiKey,
  findCaller,
  listApiKeys,
  recordKeyUsage,
  revokeApiKey,
} from './apiKeys.js';
export { type Application, changeApplication, createApplication, findApplications } from './applications.js';
export * from './breaker.js';
export * from './credits.js';
export * from './deleteAccount.js';
export * from './settings.js';
export * from './trialAccounts.js';
