export * from './accounts.js';
export * from './apiKeys.js';
export * from './applications.js';
export * from './breaker.js';
export * from './credits.js';
export * from './deleteAccount.js';
export * from './settings.js';
