export * from './holds.js';
