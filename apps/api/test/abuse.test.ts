import { allowCountries, changeSetting, setBreaker, tripBreaker } from '@onecode/store';
import { buildCaller, TEST_ACTOR, type TestCaller } from '@onecode/testing';
import { PHONE, startApi, type TestApi } from './testApi.js';

const OTHER_PHONE = '+5511987654322';
const GERMAN = '+4915123456789';
/** A valid number that belongs to no country: one of a company with calls in many countries. */
const OF_NO_COUNTRY = '+80012345678';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());
afterEach(() => changeSetting(api.db.database, TEST_ACTOR, 'guessBudget', 100));

/** Guesses wrongly at sends to one number until each of them is locked. */
async function lock(caller: TestCaller, sends: number): Promise<void> {
  for (let n = 0; n < sends; n++) {
    const { id } = (await api.create(caller).expect(202)).body;
    for (let guess = 0; guess < 5; guess++) await api.verify(caller, id, '1').expect(200);
  }
}

describe('the guess budget', () => {
  it('refuses the 21st send to a recipient after 20 locked ones until a right code, and refuses no other recipient', async () => {
    const caller = await buildCaller(api.db.database, 'test');
    const stranger = await buildCaller(api.db.database, 'test');
    const key = { 'Idempotency-Key': 'first' };
    const { id } = (await api.create(caller, { to: PHONE }, key).expect(202)).body;
    await lock(caller, 20);

    const refused = await api.create(caller);
    expect([refused.status, refused.body.code, refused.headers['retry-after']]).toEqual([
      429,
      'rate_limited',
      String(86_400 / 5),
    ]);
    expect(refused.body.detail).toMatch(/^Too many wrong codes in a row/);
    const repeated = await api.create(caller, { to: PHONE }, key).expect(202);
    expect(repeated.body.id).toBe(id);
    await api.create(caller, { to: OTHER_PHONE }).expect(202);
    await api.create(stranger).expect(202);

    expect((await api.verify(caller, id, '000000')).body).toMatchObject({ valid: true });
    await api.create(caller).expect(202);
  });

  it('refuses nobody while it is off', async () => {
    await changeSetting(api.db.database, TEST_ACTOR, 'guessBudget', 5);
    const caller = await buildCaller(api.db.database, 'test');
    await lock(caller, 1);
    await api.create(caller).expect(429);
    await changeSetting(api.db.database, TEST_ACTOR, 'guessBudget', null);
    await lock(caller, 2);
    await api.create(caller).expect(202);
  });
});

describe('a list of countries', () => {
  it.each(['test', 'live'] as const)('refuses other numbers in %s mode as a fault of "to"', async (mode) => {
    const caller = await buildCaller(api.db.database, mode, { freeQuota: 2 });
    const key = { 'Idempotency-Key': 'before' };
    await api.create(caller, { to: GERMAN }, key).expect(202);
    await allowCountries(api.db.database, TEST_ACTOR, caller.accountId, ['BR', 'US']);
    for (const to of [GERMAN, OF_NO_COUNTRY]) {
      const { body } = await api.create(caller, { to }, { 'Idempotency-Key': 'after' }).expect(422);
      expect(body).toMatchObject({
        code: 'invalid_recipient',
        detail: 'This account does not send to the country of this number.',
        errors: { to: 'Must be a number of a country that this account sends to.' },
      });
    }
    await api.create(caller, { to: GERMAN }, key).expect(202);
    // The refusals bound no key and reserved no unit.
    await api.create(caller, { to: PHONE }, { 'Idempotency-Key': 'after' }).expect(202);
  });

  it('is checked after the form of the request and before the limits', async () => {
    const caller = await buildCaller(api.db.database, 'test', { ratePerMinute: 1 });
    await api.create(caller).expect(202);
    await allowCountries(api.db.database, TEST_ACTOR, caller.accountId, ['BR']);
    expect((await api.create(caller, { to: GERMAN, code: '1' })).body.code).toBe('invalid_code');
    expect((await api.create(caller, { to: GERMAN })).body.code).toBe('invalid_recipient');
    expect((await api.create(caller)).body.code).toBe('rate_limited');
  });
});

describe('a tripped breaker', () => {
  it('answers 429 with the seconds left for that country, and 202 for others and for repeats', async () => {
    const caller = await buildCaller(api.db.database, 'live');
    const rule = { unverifiedPercent: 100, minSends: 1 };
    await setBreaker(api.db.database, TEST_ACTOR, caller.accountId, rule);
    const key = { 'Idempotency-Key': 'pumped' };
    await api.create(caller, { to: GERMAN }, key).expect(202);
    const evidence = {
      accountId: caller.accountId,
      country: 'DE',
      sends: 1,
      unverified: 1,
      denying: 0,
      lastOpenUntil: null,
    };
    expect(await tripBreaker(api.db.database, { ...evidence, rule }, 90)).toBe(true);
    const refused = await api.create(caller, { to: GERMAN }).expect(429);
    const seconds = Number(refused.headers['retry-after']);
    expect(seconds).toBeLessThanOrEqual(90);
    expect(seconds).toBeGreaterThan(60);
    await api.create(caller, { to: GERMAN }, key).expect(202);
    await api.create(caller).expect(202);
  });
});
