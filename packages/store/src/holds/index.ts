export * from './heldSends.js';
export * from './holds.js';
