export * from './abuseControls.js';
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
  recordKeyUsage,
  revokeApiKey,
} from './apiKeys.js';
export { type Application, changeApplication, createApplication, findApplications } from './applications.js';
export * from './breaker.js';
export * from './deleteAccount.js';
export * from './settings.js';
export * from './trialAccounts.js';
