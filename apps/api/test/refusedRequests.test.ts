import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { revokeApiKey, setSuspension } from '@onecode/store/accounts';
import { closeDatabase, openDatabase } from '@onecode/store/client';
import { countRefusedRequests, listRefusedRequests, type ListedRefusedRequest } from '@onecode/store/reports';
import {
  buildCaller,
  refuseSendWrites,
  startProcess,
  startTcpProxy,
  TEST_ACTOR,
  until,
  untilReady,
  type TestCaller,
} from '@onecode/testing';
import { rawRequest } from '@onecode/testing/contract';
import { apiVariables, bearer, PHONE, startApi, useApi } from './testApi.js';

const api = useApi();
let caller: TestCaller;
beforeEach(async () => {
  caller = await buildCaller(api.db.database, 'live', { freeQuota: 0 });
});

const keptOf = async (of: Pick<TestCaller, 'accountId'> = caller): Promise<ListedRefusedRequest[]> => {
  await api.refusedRequests.flush(api.db.database);
  return (await listRefusedRequests(api.db.database, of.accountId, {}, { limit: 100 })).requests;
};

describe('a refused request of a known key', () => {
  it('is kept with the reason in the response, and without the client’s input', async () => {
    const key = `order of ${PHONE}`;
    const answer = await api.create(caller, { to: '5511987654321', code: '12' }, { 'Idempotency-Key': key });
    expect(answer.status).toBe(422);
    expect(await keptOf()).toEqual([
      {
        requestId: answer.headers['x-request-id'],
        refusedAt: expect.any(Date) as Date,
        route: 'POST /v1/send',
        status: 422,
        code: 'invalid_recipient',
        detail: (answer.body as { detail: string }).detail,
        fields: ['to', 'code'],
        count: 1,
        keyHint: expect.stringMatching(/^ak_live_….{4}$/) as string,
        applicationId: caller.applicationId,
        applicationName: 'Test live',
      },
    ]);
    const search = { requestId: null, idempotencyKeyHashes: [createHash('sha256').update(key).digest()] };
    const found = await listRefusedRequests(api.db.database, caller.accountId, { search }, { limit: 5 });
    expect(found.requests).toHaveLength(1);
  });

  it('is kept for every reason: units, idempotency, limits, JSON, the id, an internal error', async () => {
    const test = await buildCaller(api.db.database, 'test', { id: caller.accountId });
    await api.create(caller);
    await api.create(test, { to: PHONE }, { 'Idempotency-Key': 'one' });
    await api.create(test, { to: PHONE, locale: 'en' }, { 'Idempotency-Key': 'one' });
    await api.create(test, '{');
    await api.create(test, { to: PHONE }, { 'Idempotency-Key': 'k'.repeat(256) });
    await api.status(test, 'x');
    await api.verify(test, '01990c1e-7c5a-7d2b-9a53-6f0d3b1c2e4f', '123456');
    await api.db.sql('update accounts set rate_per_minute = 1 where id = $1', [caller.accountId]);
    await api.create(test);
    await api.db.sql('update accounts set rate_per_minute = null where id = $1', [caller.accountId]);
    const allow = await refuseSendWrites(api.db);
    await api.create(test);
    await allow();
    const kept = (await keptOf()).map(({ route, status, code }) => `${status} ${code} ${route}`);
    expect(kept.toSorted()).toEqual([
      '402 insufficient_credits POST /v1/send',
      '404 send_not_found GET /v1/send/:id/status',
      '404 send_not_found POST /v1/send/:id/verify',
      '409 idempotency_key_reused POST /v1/send',
      '422 invalid_idempotency_key POST /v1/send',
      '422 invalid_json POST /v1/send',
      '429 rate_limited POST /v1/send',
      '500 internal_error POST /v1/send',
    ]);
    expect((await keptOf()).find(({ status }) => status === 429)?.detail).toMatch(/sends per minute/);
  });

  it('is kept for its application when the key is revoked or the account suspended', async () => {
    const revoked = await buildCaller(api.db.database, 'test', { id: caller.accountId });
    await revokeApiKey(api.db.database, TEST_ACTOR, revoked.keyId);
    expect((await api.create(revoked)).status).toBe(401);
    expect((await api.status(revoked, 'x')).status).toBe(401);
    const suspended = await buildCaller(api.db.database, 'test');
    await setSuspension(api.db.database, TEST_ACTOR, suspended.accountId, 'unpaid');
    expect((await api.create(suspended)).status).toBe(401);
    await setSuspension(api.db.database, TEST_ACTOR, suspended.accountId, null);

    const refused = { status: 401, code: 'invalid_api_key', applicationId: revoked.applicationId };
    expect(await keptOf()).toMatchObject([refused, refused]);
    expect(await keptOf(suspended)).toMatchObject([
      { status: 401, applicationId: suspended.applicationId, detail: expect.stringContaining('suspended') },
    ]);
  });

  it('is kept with its reason for an expired key, on creation, verification and reads', async () => {
    const expired = await buildCaller(api.db.database, 'test');
    await api.db.sql(`update api_keys set expires_at = now() - interval '1 second' where id = $1`, [
      expired.keyId,
    ]);
    const answers = [
      await api.create(expired),
      await api.verify(expired, 'x', '000000'),
      await api.status(expired, 'x'),
    ];
    const problem = { code: 'invalid_api_key', detail: 'This key has expired.' };
    for (const answer of answers) expect(answer).toMatchObject({ status: 401, body: problem });
    expect(await keptOf(expired)).toMatchObject([problem, problem, problem]);
  });

  it('is written by a running process within seconds, and when it stops', async () => {
    const other = await buildCaller(api.db.database, 'live', { freeQuota: 0 });
    const started = startProcess('apps/api/dist/main.js', { ...apiVariables(api), LOG_LEVEL: 'info' });
    const listed = async (of: TestCaller) =>
      (await listRefusedRequests(api.db.database, of.accountId, {}, { limit: 5 })).requests;
    try {
      const { address } = await untilReady(started);
      const { port } = address as AddressInfo;
      const ask = (of: TestCaller) =>
        rawRequest(port, 'POST', '/v1/send', Object.entries(bearer(of)), JSON.stringify({ to: PHONE }));
      expect((await ask(caller)).status).toBe(402);
      await until('the refused request', async () => (await listed(caller)).length === 1);
      expect((await ask(other)).status).toBe(402);
      started.signal('SIGTERM');
      expect((await started.exited).code).toBe(0);
      expect(await listed(other)).toHaveLength(1);
    } finally {
      started.signal('SIGKILL');
      await started.exited;
    }
  });
});

it('an accepted request is not kept', async () => {
  const test = await buildCaller(api.db.database, 'test');
  const { body } = await api.create(test);
  await api.status(test, (body as { id: string }).id);
  expect(await keptOf(test)).toEqual([]);
});

it('a request that is refused before its key is looked up is not kept', async () => {
  const count = async () => (await api.db.sql('select from refused_requests')).length;
  await api.refusedRequests.flush(api.db.database);
  const before = await count();
  const never = { key: `${caller.key.slice(0, -7)}${'0'.repeat(7)}` };
  for (const headers of [{}, bearer(never), { Authorization: 'Basic eA==' }])
    expect((await api.request.post('/v1/send').set(headers).send({ to: PHONE })).status).toBe(401);
  await api.refusedRequests.flush(api.db.database);
  expect(await count()).toBe(before);
});

describe('equal refusals', () => {
  const ask = async (body: string) => {
    const answer = await fetch(`${api.url}/v1/send`, { method: 'POST', headers: bearer(caller), body });
    expect(answer.status).toBe(422);
    return answer.headers.get('x-request-id');
  };

  it('between two flushes are counted exactly in the first one', async () => {
    const first = await ask('{');
    await Promise.all(Array.from({ length: 100 }, (_, n) => ask(n % 4 === 0 ? '[]' : '{')));
    const kept = await keptOf();
    expect(kept).toHaveLength(2);
    expect(kept.at(-1)).toMatchObject({ requestId: first, count: 76 });
    const reasons = await countRefusedRequests(api.db.database, caller.accountId, {});
    expect(reasons.toSorted((one, other) => other.count - one.count)).toMatchObject([
      { code: 'invalid_json', detail: expect.stringMatching(/^The body is not valid JSON/), count: 76 },
      { code: 'invalid_json', detail: 'The body must be a JSON object.', count: 25 },
    ]);
  });

  it('are separate after a flush', async () => {
    const ids = [await ask('{'), await ask('{')];
    expect((await keptOf()).map(({ requestId }) => requestId)).toEqual(ids.slice(0, 1));
    ids.push(await ask('{'));
    expect((await keptOf()).map(({ requestId, count }) => [requestId, count])).toEqual([
      [ids[2], 1],
      [ids[0], 2],
    ]);
  });
});

it('an unavailable database does not affect refusals; they are lost, and later ones are written', async () => {
  const proxy = await startTcpProxy(api.db.url, 'cut');
  const database = openDatabase(proxy.url, { connectionsMax: 1 });
  const other = await startApi();
  try {
    const one = await buildCaller(other.db.database, 'live', { freeQuota: 0 });
    await expect(other.refusedRequests.flush(database)).resolves.toBeUndefined();
    expect((await other.create(one)).status).toBe(402);
    await expect(other.refusedRequests.flush(database)).rejects.toThrow();
    await proxy.open();
    expect((await other.create(one, '{')).status).toBe(422);
    await other.refusedRequests.flush(database);
    const kept = await api.db.sql('select status from refused_requests where account_id = $1', [
      one.accountId,
    ]);
    expect(kept.map(({ status }) => status)).toEqual([422]);
  } finally {
    await other.close();
    await closeDatabase(database);
    await proxy.close();
  }
});
