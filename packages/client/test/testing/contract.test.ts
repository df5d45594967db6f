import * as contractTests from '@onecode/testing/contract-tests';
import type { ContractTarget } from '@onecode/testing/contract-tests';
import { openDoubleTarget } from './doubleTarget.js';

/** Every suite that there is, so that none is forgotten here. */
const SUITES = Object.entries(contractTests).filter(([name]) => name.startsWith('test')) as [
  name: string,
  suite: (open: () => ContractTarget) => void,
][];

describe.each(SUITES)('the test double keeps the contract: %s', (_name, suite) => {
  let double: Awaited<ReturnType<typeof openDoubleTarget>>;
  beforeAll(async () => {
    double = await openDoubleTarget();
  });
  afterAll(() => double.close());
  suite(() => double.target);
});
