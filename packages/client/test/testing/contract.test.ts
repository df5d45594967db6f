import {
  testAuthentication,
  testBodies,
  testCreation,
  testHeaders,
  testIdempotency,
  testLimits,
  testRouting,
  testStatus,
  testVerification,
  type ContractTarget,
} from '@onecode/testing/contract-tests';
import { openDoubleTarget } from './doubleTarget.js';

describe.each<[string, (open: () => ContractTarget) => void]>([
  ['authentication', testAuthentication],
  ['bodies', testBodies],
  ['creation', testCreation],
  ['headers', testHeaders],
  ['idempotency', testIdempotency],
  ['limits', testLimits],
  ['routing', testRouting],
  ['status', testStatus],
  ['verification', testVerification],
])('the contract in memory keeps the tests of the API: %s', (_name, test) => {
  let double: Awaited<ReturnType<typeof openDoubleTarget>>;
  beforeAll(async () => {
    double = await openDoubleTarget();
  });
  afterAll(() => double.close());
  test(() => double.target);
});
