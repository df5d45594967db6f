import { testAuthentication } from './authentication.js';
import { testBodies } from './bodies.js';
import { testCreation } from './creation.js';
import { testHeaders } from './headers.js';
import { testIdempotency } from './idempotency.js';
import { testLimits } from './limits.js';
import { testRouting } from './routing.js';
import { testStatus } from './status.js';
import type { ContractTarget } from './target.js';
import { testVerification } from './verification.js';

/** The test suites for a service with this contract, by subject. */
export const CONTRACT_SUITES: readonly (readonly [
  subject: string,
  suite: (open: () => ContractTarget) => void,
])[] = [
  ['authentication', testAuthentication],
  ['bodies', testBodies],
  ['creation', testCreation],
  ['headers', testHeaders],
  ['idempotency', testIdempotency],
  ['limits', testLimits],
  ['routing', testRouting],
  ['status', testStatus],
  ['verification', testVerification],
];

export { contractAnswers, testAnswerHeaders, UUID } from './headers.js';
export { METHODS } from './routing.js';
export * from './target.js';
