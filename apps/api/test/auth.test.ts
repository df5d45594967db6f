import { randomUUID } from 'node:crypto';
import { generateApiKey } from '@onecode/domain';
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
import { PHONE, startApi, type TestApi } from './testApi.js';

let api: TestApi;
let caller: TestCaller;

beforeAll(async () => {
  api = await startApi();
  caller = await buildCaller(api.db.database, 'test', { ratePerMinute: 10_000 });
});
afterAll(() => api.close());

type Operation = (...authorization: string[]) => Promise<RawAnswer>;
const operation =
  (method: string, path: string, body = ''): Operation =>
  (...authorization) =>
    rawRequest(
      api.port,
      method,
      path,
      authorization.map((value) => ['Authorization', value] as const),
      body,
    );
const create = operation('POST', '/v1/send', JSON.stringify({ to: PHONE }));

describe.each<[string, Operation, number]>([
  ['create', create, 202],
  ['status', operation('GET', `/v1/send/${randomUUID()}/status`), 404],
  ['verify', operation('POST', `/v1/send/${randomUUID()}/verify`, '{"code":"1"}'), 404],
])('%s', (_name, call, accepted) => {
  it.each([
    ['no header', []],
    ['an empty header', ['']],
    ['a blank header', [' \t ']],
    ['another scheme', ['Basic dXNlcjpwYXNz']],
    ['a scheme that begins with Bearer', ['Bearerx KEY']],
    ['Bearer and nothing', ['Bearer']],
    ['Bearer and white space', ['Bearer \t ']],
    ['the key without a scheme', ['KEY']],
    ['Bearer run into the key', ['BearerKEY']],
  ])('is missing_credentials with %s', async (_header, values) => {
    const { status, headers, json } = await call(...values.map((value) => value.replace('KEY', caller.key)));
    expect([status, json.code]).toEqual([401, 'missing_credentials']);
    expect(headers['www-authenticate']).toBe('Bearer realm="onecode"');
  });

  it.each<[string, (key: string) => string]>([
    ['a word', () => 'Bearer secret'],
    ['a prefix alone', () => 'Bearer ak_test_'],
    ['a key that was never issued, with a right check part', () => `Bearer ${generateApiKey('test')}`],
    ['a live key that was never issued', () => `Bearer ${generateApiKey('live')}`],
    [
      'the key with a typo',
      (key) => `Bearer ${key.slice(0, 12)}${key[12] === 'a' ? 'b' : 'a'}${key.slice(13)}`,
    ],
    ['the key cut off', (key) => `Bearer ${key.slice(0, -1)}`],
    ['the key and more', (key) => `Bearer ${key}x`],
    ['the key in other letters', (key) => `Bearer ${key.toUpperCase()}`],
    ['the key in the other mode', (key) => `Bearer ${key.replace('ak_test_', 'ak_live_')}`],
    ['two keys', (key) => `Bearer ${key}, ${key}`],
    ['two words', (key) => `Bearer ${key} ${key}`],
    ['the key in quotes', (key) => `Bearer "${key}"`],
    ['Bearer twice', (key) => `Bearer Bearer ${key}`],
    ['bytes beyond ASCII', () => 'Bearer \xe9\xa0\xff'],
    ['10,000 characters', () => `Bearer ${'k'.repeat(10_000)}`],
    ['SQL', () => "Bearer ' or 1=1--"],
  ])('is invalid_api_key with %s', async (_header, value) => {
    const { status, headers, json } = await call(value(caller.key));
    expect([status, json.code]).toEqual([401, 'invalid_api_key']);
    expect(headers['www-authenticate']).toBe('Bearer realm="onecode", error="invalid_token"');
  });

  it.each([
    ['as documented', 'Bearer KEY'],
    ['with the scheme in small letters', 'bearer KEY'],
    ['with the scheme in capitals', 'BEARER KEY'],
    ['with more spaces', 'Bearer   KEY  '],
    ['with a tab', 'Bearer\tKEY'],
  ])('takes the key %s', async (_header, value) => {
    expect((await call(value.replace('KEY', caller.key))).status).toBe(accepted);
  });

  it('refuses two Authorization headers, whichever is right', async () => {
    const [right, wrong] = [`Bearer ${caller.key}`, 'Bearer x'];
    for (const pair of [
      [right, right],
      [right, wrong],
      [wrong, right],
      [right, ''],
    ] as const)
      expect((await call(...pair)).json).toMatchObject({ status: 400, code: 'bad_request' });
  });

  it('repeats no credential in its answer', async () => {
    for (const value of ['Bearer leaked-credential', 'Basic leaked-credential'])
      expect(JSON.stringify(await call(value))).not.toContain('leaked-credential');
  });
});

describe('a key', () => {
  it('determines the mode of its sends: that of its application', async () => {
    for (const mode of ['test', 'live'] as const) {
      const owner = await buildCaller(api.db.database, mode);
      expect(owner.key.startsWith(`ak_${mode}_`)).toBe(true);
      expect((await create(`Bearer ${owner.key}`)).json['mode']).toBe(mode);
    }
  });

  it('is not taken from the address or the body', async () => {
    const { json } = await rawRequest(
      api.port,
      'POST',
      `/v1/send?access_token=${caller.key}`,
      [],
      `{"to":"${PHONE}"}`,
    );
    expect(json).toMatchObject({ code: 'missing_credentials' });
  });

  it('is not needed for the sign-up settings, where a wrong one is ignored', async () => {
    await api.request.get('/v1/signup-settings').expect(200);
    await api.request.get('/v1/signup-settings').set('Authorization', 'Bearer wrong').expect(200);
  });

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
