import { CONTRACT_SUITES } from '@onecode/testing/contract-tests';
import { apiTarget } from './contractTarget.js';
import { startApi, type TestApi } from './testApi.js';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

describe.each(CONTRACT_SUITES)('the API keeps the contract: %s', (_subject, suite) => {
  suite(() => apiTarget(api));
});
