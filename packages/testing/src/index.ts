export * from './testDatabase.js';
export * from './builders.js';
export * from './history.js';
export * from './slots.js';
