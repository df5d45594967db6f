import type { Evidence, Violation } from '../evidence.js';
import { CREATIONS } from './creations.js';
import { DELIVERY } from './delivery.js';
import { COMPLETION } from './completion.js';
import { factsOf, type Invariants } from './facts.js';
import { GUESSES } from './guesses.js';
import { MESSAGES } from './messages.js';
import { SENDER_FAULTS } from './senderFaults.js';
import { UNITS } from './units.js';
import { VIEWS } from './views.js';

/** All invariants that a run is checked for. */
export const INVARIANTS: Invariants = {
  ...CREATIONS,
  ...UNITS,
  ...COMPLETION,
  ...VIEWS,
  ...GUESSES,
  ...MESSAGES,
  ...DELIVERY,
  ...SENDER_FAULTS,
};

/** Checks the evidence of a run. @returns every violation of an invariant */
export function check(evidence: Evidence): Violation[] {
  const facts = factsOf(evidence);
  return Object.entries(INVARIANTS).flatMap(([invariant, find]) =>
    find(facts).map((detail) => ({ invariant, detail })),
  );
}
