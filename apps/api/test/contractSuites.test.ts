import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as contractTests from '@onecode/testing/contract-tests';

const SUITES = Object.keys(contractTests).filter((name) => name.startsWith('test'));

/** The suites that the test files of this folder call for the API. */
const called = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.test.ts'))
  .flatMap((name) => {
    const text = readFileSync(join(import.meta.dirname, name), 'utf8');
    return [...text.matchAll(/^(test[A-Z]\w*)\(\(\) => apiTarget\(api\)\);$/gm)].map(
      ([, suite = '']) => suite,
    );
  });

it('every suite of the contract is held against the API, once', () => {
  expect(SUITES.length).toBeGreaterThan(0);
  expect(called.toSorted()).toEqual(SUITES.toSorted());
});
