import {
  closeDatabase,
  createApiKey,
  openDatabase,
  resumeAccount,
  revokeApiKey,
  suspendAccount,
} from '@onecode/store';
import { buildCaller, TEST_ACTOR, until, type RawAnswer, type TestCaller } from '@onecode/testing';
import { rawRequest } from '@onecode/testing/contract';
import { testAuthentication } from '@onecode/testing/contract-tests';
import { apiTarget } from './contractTarget.js';
import { PHONE, startApi, type TestApi } from './testApi.js';

let api: TestApi;
let caller: TestCaller;

beforeAll(async () => {
  api = await startApi();
  caller = await buildCaller(api.db.database, 'test', { ratePerMinute: 10_000 });
});
afterAll(() => api.close());

testAuthentication(() => apiTarget(api));

const create = (authorization: string): Promise<RawAnswer> =>
  rawRequest(api.port, 'POST', '/v1/send', [['Authorization', authorization]], JSON.stringify({ to: PHONE }));

describe('a key', () => {
  it('that is revoked stops within a second under load, and other keys continue', async () => {
    const doomed = await createApiKey(api.db.database, TEST_ACTOR, caller.applicationId);
    if (doomed === null) throw new Error('no application');
    const answers: { at: number; status: number }[] = [];
    let running = true;
    const runner = async (): Promise<void> => {
      while (running) {
        const at = Date.now();
        answers.push({ at, status: (await create(`Bearer ${doomed.key}`)).status });
      }
    };
    const runners = [runner(), runner(), runner()];
    await until('answers before', () => answers.length > 5);
    await revokeApiKey(api.db.database, TEST_ACTOR, doomed.id);
    const revokedAt = Date.now();
    await until('answers after', () => answers.filter(({ at }) => at > revokedAt + 1_000).length > 5);
    running = false;
    await Promise.all(runners);
    const statuses = (some: typeof answers): number[] => [...new Set(some.map(({ status }) => status))];
    expect(statuses(answers.slice(0, 5))).toEqual([202]);
    expect(statuses(answers.filter(({ at }) => at > revokedAt + 1_000))).toEqual([401]);
    expect((await create(`Bearer ${caller.key}`)).status).toBe(202);
  });

  it('of a suspended account is refused within a second, and accepted again once the account is resumed', async () => {
    const suspended = await buildCaller(api.db.database, 'test', { ratePerMinute: 10_000 });
    const answer = async () => {
      const { status, json } = await create(`Bearer ${suspended.key}`);
      detail = json['detail'];
      return [status, json['code'] ?? null];
    };
    let detail: unknown;
    expect(await answer()).toEqual([202, null]);
    await suspendAccount(api.db.database, TEST_ACTOR, suspended.accountId, 'unpaid');
    const begin = performance.now();
    let latestAccepted = begin;
    await until('a refusal', async () => {
      const asked = performance.now();
      const [status] = await answer();
      if (status === 202) latestAccepted = asked;
      return status === 401;
    });
    expect(latestAccepted - begin).toBeLessThan(1_000);
    expect(await answer()).toEqual([401, 'invalid_api_key']);
    expect(detail).toBe('The account of this key is suspended.');
    expect((await create(`Bearer ${caller.key}`)).status).toBe(202);
    await resumeAccount(api.db.database, TEST_ACTOR, suspended.accountId);
    expect(await answer()).toEqual([202, null]);
  });

  it('with a typo is recognised without a look-up, even while PostgreSQL is down', async () => {
    const database = openDatabase('postgres://nobody@127.0.0.1:1/none', { connectionsMax: 1 });
    const cutOff = await startApi({ database });
    const answerTo = async (key: string) => (await cutOff.create({ key })).body.code;
    expect(await answerTo(`${caller.key.slice(0, -1)}${caller.key.endsWith('a') ? 'b' : 'a'}`)).toBe(
      'invalid_api_key',
    );
    expect(await answerTo(caller.key)).toBe('internal_error');
    await cutOff.close();
    await closeDatabase(database);
  });

  it('works at once even if it was refused a moment ago', async () => {
    const { key, keyId } = await buildCaller(api.db.database, 'test');
    await api.db.sql('update api_keys set revoked_at = now() where id = $1', [keyId]);
    expect((await create(`Bearer ${key}`)).status).toBe(401);
    await api.db.sql('update api_keys set revoked_at = null where id = $1', [keyId]);
    expect((await create(`Bearer ${key}`)).status).toBe(202);
  });
});
