import type { Evidence, Violation } from '../evidence.js';
import { CREATIONS } from './creations.js';
import { DELIVERY } from './delivery.js';
import { ENDS } from './ends.js';
import { factsOf, type Invariant } from './facts.js';
import { GUESSES } from './guesses.js';
import { MESSAGES } from './messages.js';
import { UNITS } from './units.js';
import { VIEWS } from './views.js';

/** Every promise that a run is held against. */
export const INVARIANTS: readonly Invariant[] = [
  ...CREATIONS,
  ...UNITS,
  ...ENDS,
  ...VIEWS,
  ...GUESSES,
  ...MESSAGES,
  ...DELIVERY,
];

/** Holds the evidence of a run against every invariant. @returns every breach, none when all is well */
export function check(evidence: Evidence): Violation[] {
  const facts = factsOf(evidence);
  return INVARIANTS.flatMap(({ name, find }) => find(facts).map((detail) => ({ invariant: name, detail })));
}
