import { CONTRACT_SUITES } from '@onecode/testing/contract-tests';
import { openDoubleTarget } from './doubleTarget.js';

describe.each(CONTRACT_SUITES)('the test double keeps the contract: %s', (_subject, suite) => {
  let double: Awaited<ReturnType<typeof openDoubleTarget>>;
  beforeAll(async () => {
    double = await openDoubleTarget();
  });
  afterAll(() => double.close());
  suite(() => double.target);
});
