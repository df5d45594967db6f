export { type HeldSends, readHeldSends } from './heldSends.js';
export { type Hold, listHolds, placeHold, releaseHold } from './holds.js';
