import { findAccount } from '@onecode/store';
import { buildCaller } from '@onecode/testing';
import { testIdempotency } from '@onecode/testing/contract-tests';
import { apiTarget } from './contractTarget.js';
import { PHONE, startApi, type TestApi } from './testApi.js';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

testIdempotency(() => apiTarget(api));

it('80 repeats at once leave one row and one charge', async () => {
  const caller = await buildCaller(api.db.database, 'live', { freeQuota: 10 });
  const headers = { 'Idempotency-Key': 'one row' };
  const answers = await Promise.all(
    Array.from({ length: 80 }, () => api.create(caller, { to: PHONE }, headers).expect(202)),
  );
  const sends = await api.db.sql('select id from sends where account_id = $1', [caller.accountId]);
  expect(sends).toEqual([{ id: answers[0]?.body.id }]);
  expect(await findAccount(api.db.database, caller.accountId)).toMatchObject({ freeQuota: 9 });
});
