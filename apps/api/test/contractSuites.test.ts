import { CONTRACT_SUITES } from '@onecode/testing/contract-tests';
import { apiTarget } from './contractTarget.js';
import { useApi } from './testApi.js';

const api = useApi();

describe.each(CONTRACT_SUITES)('the API implements the contract: %s', (_subject, suite) => {
  suite(() => apiTarget(api));
});
