export * from './outcome.js';
export * from './problems.js';
