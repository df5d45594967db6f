import type { Mode } from '@onecode/domain';
import {
  changeAccount,
  changeSettings,
  createApiKey,
  findAccount,
  listApiKeys,
  revokeApiKey,
  tripBreaker,
  type Settings,
} from '@onecode/store/accounts';
import { closeDatabase, openDatabase } from '@onecode/store/client';
import {
  buildAccount,
  buildCaller,
  earlierMinute,
  RawConnection,
  requestBytes,
  TEST_ACTOR,
  until,
  useClock,
  type TestCaller,
} from '@onecode/testing';
import { rawRequest } from '@onecode/testing/contract';
import { UUID } from '@onecode/testing/contract-tests';
import type { Response } from 'supertest';
import { bearer, PHONE, startApi, type TestApi, useApi } from './testApi.js';

/** Tests of the four operations in addition to the contract tests: database content, settings and failures. */
const CODE = '004217';
const VALID = { valid: true, verification: 'verified', attempts_left: 0 };
const OTHER_PHONE = '+5511987654322';
const GERMAN = '+4915123456789';
/** A valid number without a country: an international freephone number. */
const OF_NO_COUNTRY = '+80012345678';
const NEW_KEY = { 'Idempotency-Key': 'new' };

const api = useApi();
const clock = useClock();
afterEach(() =>
  api.db.sql(
    'update settings set code_validity_seconds = 600, account_rate_per_minute = 600, free_sends = 10, guess_budget = 100',
  ),
);

const build = (mode: Mode, account?: Parameters<typeof buildCaller>[2]): Promise<TestCaller> =>
  buildCaller(api.db.database, mode, account);
const set = <Name extends keyof Settings>(name: Name, value: Settings[Name]) =>
  changeSettings(api.db.database, TEST_ACTOR, { [name]: value });
/** Returns the row of a send. */
const readRow = async (id: string): Promise<Record<string, unknown> | undefined> =>
  (await api.db.sql('select * from sends where id = $1', [id]))[0];

describe('a new send', () => {
  it.each(['pt-BR', 'en'] as const)(
    'has the account’s language (%s) unless the request names a locale',
    async (language) => {
      const caller = await build('test', { language });
      const localeOf = async (body: object) =>
        (await readRow((await api.create(caller, { to: PHONE, ...body })).body.id))?.['locale'];
      expect(await localeOf({})).toBe(language);
      for (const locale of ['pt-BR', 'en']) expect(await localeOf({ locale })).toBe(locale);
    },
  );

  it('stores the id of its request', async () => {
    const { headers, body } = await api.create(await build('test'), { to: PHONE });
    expect(await readRow(body.id)).toMatchObject({ request_id: headers['x-request-id'] });
  });

  it('expires after the configured validity, also when it changes without a restart', async () => {
    const caller = await build('test');
    const life = ({ body }: Response): number => Date.parse(body.expires_at) - Date.parse(body.created_at);
    const old = await api.create(caller);
    expect(life(old)).toBe(600_000);
    await set('codeValiditySeconds', 90);
    expect(life(await api.create(caller))).toBe(90_000);
    expect((await api.status(caller, old.body.id)).body.expires_at).toBe(old.body.expires_at);
  });
});

describe('a refusal', () => {
  /** Creates a live caller with one send with the key `used`, and reads the account's data. */
  async function scene(units: number, ratePerMinute: number) {
    const caller = await build('live', { freeQuota: units, ratePerMinute });
    const create = (body: object | string, headers = {}) => api.create(caller, body, headers);
    await create({ to: PHONE }, { 'Idempotency-Key': 'used' }).expect(202);
    const holdings = async (): Promise<unknown> =>
      (
        await api.db.sql(
          `select to_jsonb(a) as account,
            (select jsonb_agg(to_jsonb(p) order by p.id) from applications p where p.account_id = a.id) as applications,
            (select jsonb_agg(to_jsonb(s) order by s.id) from sends s where s.account_id = a.id) as sends,
            (select jsonb_agg(to_jsonb(l) order by l.id) from ledger_entries l where l.account_id = a.id) as ledger
           from accounts a where a.id = $1`,
          [caller.accountId],
        )
      )[0];
    return { caller, create, holdings, before: await holdings() };
  }

  it('with 401, 409 or 422 consumes no unit, rate limit or idempotency key', async () => {
    const { create, holdings, before } = await scene(2, 2);
    for (const [body, headers, status] of [
      [{ to: PHONE }, { Authorization: 'Bearer ak_live_x' }, 401],
      [{ to: PHONE, code: '1234' }, { 'Idempotency-Key': 'used' }, 409],
      ['{"to"', NEW_KEY, 422],
      [{ to: 'x' }, NEW_KEY, 422],
      [{ to: 'a@example.com' }, NEW_KEY, 422],
      [{ to: PHONE, code: '1' }, NEW_KEY, 422],
      [{ to: PHONE, locale: 'x' }, NEW_KEY, 422],
      [{ to: PHONE }, { 'Idempotency-Key': 'k'.repeat(256) }, 422],
    ] as const)
      for (let n = 0; n < 3; n++) await create(body, headers).expect(status);
    expect(await holdings()).toEqual(before);
    await create({ to: PHONE, code: '9999' }, NEW_KEY).expect(202);
  });

  it.each([
    ['402', 1, 2, 402, 'update accounts set credits = 1 where id = $1'],
    ['429', 5, 1, 429, `update accounts set minute_sends = ${earlierMinute('60')} where id = $1`],
  ])(
    'with %s consumes nothing, and does not bind the idempotency key',
    async (_, units, rate, status, end) => {
      const { caller, create, holdings, before } = await scene(units, rate);
      for (let n = 0; n < 3; n++) await create({ to: PHONE }, NEW_KEY).expect(status);
      expect(await holdings()).toEqual(before);
      await api.db.sql(end, [caller.accountId]);
      await create({ to: PHONE, code: '9999' }, NEW_KEY).expect(202);
    },
  );

  it('because of an internal error stores nothing, and the same request succeeds afterwards', async () => {
    const { create, holdings, before } = await scene(2, 2);
    await api.db.sql('alter table ledger_entries rename to ledger_away');
    const failed = await create({ to: PHONE }, NEW_KEY);
    await api.db.sql('alter table ledger_away rename to ledger_entries');
    expect(failed.body).toMatchObject({ status: 500, code: 'internal_error' });
    expect(await holdings()).toEqual(before);
    await create({ to: PHONE }, NEW_KEY).expect(202);
  });
});

describe('limits', () => {
  it('follow the setting without a restart, except for accounts with a custom limit', async () => {
    const ordinary = await build('test');
    const special = await build('test', { ratePerMinute: 5 });
    for (const caller of [ordinary, special]) await api.create(caller).expect(202);
    await set('accountRatePerMinute', 1);
    await api.create(ordinary).expect(429);
    await api.create(special).expect(202);
    await set('accountRatePerMinute', 2);
    await api.create(ordinary).expect(202);
    await api.create(ordinary).expect(429);
  });

  it('return a Retry-After of at least 1 second when the limit reopens sooner', async () => {
    const caller = await build('test', { ratePerMinute: 1 });
    await api.create(caller).expect(202);
    // On a slow machine the limit may reopen between these requests, so it may take more than one try.
    await until('an answer within half a second', async () => {
      await api.db.sql(
        `update accounts set minute_sends = json_build_array(json_build_array((date_part('epoch', clock_timestamp()) - 59.5) * 1000, 1)) where id = $1`,
        [caller.accountId],
      );
      const { status, headers } = await api.create(caller);
      if (status === 429) expect(headers['retry-after']).toBe('1');
      else await api.db.sql(`update accounts set sends_created = 1 where id = $1`, [caller.accountId]);
      return status === 429;
    });
  });
});

describe('the guess budget', () => {
  /** Makes wrong guesses for sends to one number until each of them is locked. */
  async function lock(caller: TestCaller, sends: number, code = CODE): Promise<void> {
    for (let n = 0; n < sends; n++) {
      const { id } = (await api.create(caller, { to: PHONE, code }).expect(202)).body;
      for (let guess = 0; guess < 5; guess++) await api.verify(caller, id, '1').expect(200);
    }
  }

  it('refuses live sends to a recipient after 96 wrong codes until a correct code, but none to other recipients or of other accounts', async () => {
    const [caller, stranger] = [await build('live', { credits: 100 }), await build('live')];
    const key = { 'Idempotency-Key': 'first' };
    const { id } = (await api.create(caller, { to: PHONE, code: CODE }, key).expect(202)).body;
    await lock(caller, 19);
    await api.verify(caller, id, '1').expect(200);

    const refused = await api.create(caller).expect(429);
    expect(refused.body).toMatchObject({ code: 'rate_limited' });
    expect(refused.body.detail).toMatch(/too many wrong codes in a row/);
    expect(refused.headers['retry-after']).toBe(String(86_400 / 5));
    expect((await api.create(caller, { to: PHONE, code: CODE }, key).expect(202)).body.id).toBe(id);
    await api.create(caller, { to: OTHER_PHONE }).expect(202);
    await api.create(stranger).expect(202);

    expect((await api.verify(caller, id, CODE)).body).toMatchObject({ valid: true });
    await api.create(caller).expect(202);
  });
});

describe('a list of countries', () => {
  it.each(['test', 'live'] as const)(
    'refuses numbers of other countries in %s mode as an error of the field "to"',
    async (mode) => {
      const caller = await build(mode, { freeQuota: 2 });
      const key = { 'Idempotency-Key': 'before' };
      await api.create(caller, { to: GERMAN }, key).expect(202);
      await changeAccount(api.db.database, TEST_ACTOR, caller.accountId, { allowedCountries: ['BR', 'US'] });
      for (const to of [GERMAN, OF_NO_COUNTRY])
        expect((await api.create(caller, { to }, NEW_KEY).expect(422)).body).toMatchObject({
          code: 'invalid_recipient',
          detail: 'This account does not send to the country of this number.',
          errors: { to: 'Must be a number that this account sends to.' },
        });
      await api.create(caller, { to: GERMAN }, key).expect(202);
      // The refusals used no key and no unit.
      await api.create(caller, { to: PHONE }, NEW_KEY).expect(202);
    },
  );

  it('is checked after the request’s format and before the limits', async () => {
    const caller = await build('test', { ratePerMinute: 1 });
    await api.create(caller).expect(202);
    await changeAccount(api.db.database, TEST_ACTOR, caller.accountId, { allowedCountries: ['BR'] });
    expect((await api.create(caller, { to: GERMAN, code: '1' })).body.code).toBe('invalid_code');
    expect((await api.create(caller, { to: GERMAN })).body.code).toBe('invalid_recipient');
    expect((await api.create(caller)).body.code).toBe('rate_limited');
  });
});

it('a tripped breaker refuses its country with 429 and the remaining seconds, but no other country and no repeated request', async () => {
  const caller = await build('live');
  const rule = { unverifiedPercent: 100, minSends: 1 };
  await changeAccount(api.db.database, TEST_ACTOR, caller.accountId, { breaker: rule });
  const key = { 'Idempotency-Key': 'pumped' };
  await api.create(caller, { to: GERMAN }, key).expect(202);
  const evidence = { accountId: caller.accountId, country: 'DE', sends: 1, unverified: 1 };
  expect(await tripBreaker(api.db.database, { ...evidence, rule })).toBe(true);
  const seconds = Number((await api.create(caller, { to: GERMAN }).expect(429)).headers['retry-after']);
  expect(seconds).toBeLessThanOrEqual(3_600);
  expect(seconds).toBeGreaterThan(3_570);
  await api.create(caller, { to: GERMAN }, key).expect(202);
  await api.create(caller).expect(202);
});

describe('a guess', () => {
  let test: TestCaller;
  beforeAll(async () => {
    test = await build('test');
  });
  const create = async (): Promise<string> =>
    (await api.create(test, { to: PHONE, code: CODE }).expect(202)).body.id;
  const guess = async (id: string, code: string): Promise<unknown> =>
    (await api.verify(test, id, code).expect(200)).body;

  it('with the right code gets internal_error if the check fails, and the code remains valid', async () => {
    const id = await create();
    await api.db.sql('alter table guess_budgets rename to guess_budgets_away');
    const { body } = await api.verify(test, id, CODE);
    await api.db.sql('alter table guess_budgets_away rename to guess_budgets');
    expect(body).toMatchObject({ status: 500, code: 'internal_error' });
    expect(await guess(id, CODE)).toEqual(VALID);
  });
});

describe('a key that is revoked while the API still caches its caller', () => {
  let caller: TestCaller;
  let id: string;
  beforeEach(async () => {
    caller = await build('test');
    ({ id } = (await api.create(caller, { to: PHONE, code: CODE }).expect(202)).body);
  });
  it.each(['/v1/send', '/v1/send/ID/verify'])(
    'is refused when the rest of its request body arrives, and changes nothing: POST %s',
    async (path) => {
      const body = JSON.stringify(path === '/v1/send' ? { to: PHONE } : { code: CODE });
      const connection = await RawConnection.open(api.port);
      connection.write(
        requestBytes('POST', path.replace('ID', id), [
          ['Host', 'codes.test'],
          ...Object.entries(bearer(caller)),
          ['Content-Length', String(body.length)],
        ]),
      );
      // The API reads this request after the first one, so it has already accepted the first one's key.
      await api.status(caller, id).expect(200);
      const before = await readRow(id);
      await revokeApiKey(api.db.database, TEST_ACTOR, caller.keyId);
      expect((await connection.write(body).answer()).json).toMatchObject({ code: 'invalid_api_key' });
      const sends = 'select id from sends where account_id = $1';
      expect(await api.db.sql(sends, [caller.accountId])).toEqual([{ id }]);
      expect(await readRow(id)).toEqual(before);
    },
  );

  it('is refused when the rest of a guess at a finished code arrives later than a second after the revocation', async () => {
    await api.verify(caller, id, CODE).expect(200);
    const body = JSON.stringify({ code: CODE });
    const connection = await RawConnection.open(api.port);
    connection.write(
      requestBytes('POST', `/v1/send/${id}/verify`, [
        ['Host', 'codes.test'],
        ...Object.entries(bearer(caller)),
        ['Content-Length', String(body.length)],
      ]),
    );
    await api.status(caller, id).expect(200);
    await revokeApiKey(api.db.database, TEST_ACTOR, caller.keyId);
    clock.advance(1_001);
    expect((await connection.write(body).answer()).json).toMatchObject({ code: 'invalid_api_key' });
  });

  it.each([
    ['valid', { to: PHONE }, {}],
    ['malformed', '{', {}],
    ['invalid', { to: 'not a number' }, {}],
    [
      'valid, with an idempotency key that is too long',
      { to: PHONE },
      { 'Idempotency-Key': 'k'.repeat(256) },
    ],
  ])('is refused with 401 minutes later, if the request is %s', async (_, body, headers) => {
    await revokeApiKey(api.db.database, TEST_ACTOR, caller.keyId);
    clock.advance(5 * 60_000);
    const answer = await api.create(caller, body, headers);
    expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_api_key' } });
  });
});

describe('the last use of a key', () => {
  let caller: TestCaller;
  beforeEach(async () => {
    caller = await build('test');
  });
  const uses = async (): Promise<(Date | null)[]> =>
    (await listApiKeys(api.db.database, { applicationId: caller.applicationId })).map(
      (key) => key.lastUsedAt,
    );
  const age = (seconds: number) =>
    api.db.sql('update api_keys set last_used_at = now() - make_interval(secs => $1) where id = $2', [
      seconds,
      caller.keyId,
    ]);

  it('is recorded for this key only, also after a refused request', async () => {
    await createApiKey(api.db.database, TEST_ACTOR, caller.applicationId);
    await api.create(caller, { to: 'not a number' }).expect(422);
    expect(await uses()).toEqual([null, null]);
    await api.flushKeyUsage();
    expect(await uses()).toEqual([expect.any(Date), null]);
  });

  it.each(['cached', 'not cached'])(
    'is not recorded when the request was refused because of its key, which was %s',
    async (state) => {
      if (state === 'cached') {
        await api.create(caller).expect(202);
        await api.flushKeyUsage();
        await age(90);
        clock.advance(90_000);
      }
      const before = await uses();
      await revokeApiKey(api.db.database, TEST_ACTOR, caller.keyId);
      await api.create(caller).expect(401);
      await api.flushKeyUsage();
      expect(await uses()).toEqual(before);
    },
  );

  it.each([
    [30, false],
    [90, true],
  ])('that another process wrote %i seconds ago is written again: %s', async (seconds, isWritten) => {
    await age(seconds);
    const [before] = await uses();
    await api.create(caller).expect(202);
    await api.flushKeyUsage();
    const [after] = await uses();
    expect(after!.getTime() > before!.getTime()).toBe(isWritten);
  });
});

describe('the sign-up settings', () => {
  const freeSends = async (): Promise<unknown> =>
    (await api.request.get('/v1/signup-settings').expect(200)).body.free_sends;

  it('follow a change at once, down to 0, for new accounts only', async () => {
    const old = await buildAccount(api.db.database);
    for (const wanted of [25, 0]) {
      await set('freeSends', wanted);
      expect(await freeSends()).toBe(wanted);
      const made = await buildAccount(api.db.database);
      expect(await findAccount(api.db.database, made)).toMatchObject({ freeQuota: wanted });
      expect(await findAccount(api.db.database, old)).toMatchObject({ freeQuota: 10 });
    }
  });
});

describe('the API without PostgreSQL', () => {
  let cutOff: TestApi;
  const database = openDatabase('postgres://user:leaked@127.0.0.1:1/none', { connectionsMax: 1 });
  beforeAll(async () => {
    cutOff = await startApi({ database });
  });
  afterAll(async () => {
    await cutOff.close();
    await closeDatabase(database);
  });

  it('is live but not ready, and names only the missing service', async () => {
    expect((await rawRequest(cutOff.port, 'GET', '/livez')).status).toBe(200);
    const unready = { status: 503, body: 'not ready: database\n' };
    expect(await rawRequest(cutOff.port, 'GET', '/readyz')).toMatchObject(unready);
  });

  it('answers with internal_error and the common headers, and does not reveal the cause', async () => {
    const { key } = await build('test');
    const body = JSON.stringify({ to: PHONE });
    const bearer = [['Authorization', `Bearer ${key}`]] as const;
    for (const answer of [
      await rawRequest(cutOff.port, 'POST', '/v1/send', bearer, body),
      await rawRequest(cutOff.port, 'GET', '/v1/signup-settings'),
    ]) {
      expect(answer.json).toMatchObject({ status: 500, code: 'internal_error' });
      expect(answer.headers).toMatchObject({
        'x-request-id': expect.stringMatching(UUID),
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
        'strict-transport-security': expect.stringMatching(/^max-age/),
      });
      expect(answer.body).not.toMatch(/leaked|127|ECONN|prisma|postgres/i);
    }
  });

  it('refuses a key with a typo without a look-up', async () => {
    const { key } = await build('test');
    const typo = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`;
    expect((await cutOff.create({ key: typo })).body.code).toBe('invalid_api_key');
  });
});
