import { CONTRACT_SUITES } from '@onecode/testing/contract-tests';
import { apiTarget } from './contractTarget.js';
import { useApi } from './testApi.js';

const api = useApi();

describe.each(CONTRACT_SUITES)('the API: contract tests of %s', (_subject, suite) => {
  suite(() => apiTarget(api));
});
