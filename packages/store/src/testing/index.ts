export * from './testDatabase.js';
export * from './builders.js';
