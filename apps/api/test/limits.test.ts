import { changeSetting, findAccount } from '@onecode/store';
import { buildCaller, TEST_ACTOR } from '@onecode/testing';
import { testLimits } from '@onecode/testing/contract-tests';
import type { Response } from 'supertest';
import { apiTarget } from './contractTarget.js';
import { startApi, type TestApi } from './testApi.js';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());
afterEach(() =>
  api.db.sql(
    'update settings set code_validity_seconds = 600, account_rate_per_minute = 600, free_sends = 10',
  ),
);

testLimits(() => apiTarget(api));

const retryAfter = ({ headers }: Response): number => {
  expect(headers['retry-after']).toMatch(/^[1-9][0-9]*$/);
  return Number(headers['retry-after']);
};
const statuses = async (answers: PromiseLike<Response>[]): Promise<number[]> =>
  (await Promise.all(answers)).map(({ status }) => status);
const count = (all: number[], status: number): number => all.filter((one) => one === status).length;

describe('the limits in force', () => {
  it('are 600 a minute for an account, and none for an application', async () => {
    const caller = await buildCaller(api.db.database, 'test');
    expect(await findAccount(api.db.database, caller.accountId)).toMatchObject({ ratePerMinute: 600 });
    // Sets the counters as 598 more sends would.
    await api.create(caller).expect(202);
    await api.db.sql('update accounts set sends_created = 599 where id = $1', [caller.accountId]);
    await api.create(caller).expect(202);
    await api.create(caller).expect(429);
  });

  it('follow the setting without a restart, except where the account has its own', async () => {
    const ordinary = await buildCaller(api.db.database, 'test');
    const special = await buildCaller(api.db.database, 'test', { ratePerMinute: 5 });
    for (const caller of [ordinary, special]) await api.create(caller).expect(202);
    await changeSetting(api.db.database, TEST_ACTOR, 'accountRatePerMinute', 1);
    expect(await statuses([api.create(ordinary), api.create(special)])).toEqual([429, 202]);
    await changeSetting(api.db.database, TEST_ACTOR, 'accountRatePerMinute', 2);
    expect(await statuses([api.create(ordinary)])).toEqual([202]);
    await api.create(ordinary).expect(429);
  });
});

describe('Retry-After', () => {
  it('is at least 1 when the window opens within the second', async () => {
    const caller = await buildCaller(api.db.database, 'test', { ratePerMinute: 1 });
    await api.create(caller).expect(202);
    // The clock goes on meanwhile, so a slow machine may need more than one round.
    for (let round = 0; round < 20; round++) {
      await api.db.sql(
        `update sends set created_at = clock_timestamp() - interval '59.5 seconds' where account_id = $1`,
        [caller.accountId],
      );
      const answer = await api.create(caller);
      if (answer.status === 429) return expect(retryAfter(answer)).toBe(1);
      await api.db.sql('delete from sends where account_id = $1 and account_number > 1', [caller.accountId]);
      await api.db.sql('update accounts set sends_created = 1, rate_window_number = 1 where id = $1', [
        caller.accountId,
      ]);
    }
    throw new Error('no request was answered within half a second');
  });
});

describe('RateLimit and RateLimit-Policy', () => {
  const rateLimit = ({ headers }: Response): Record<string, { r: number; t: number | null }> =>
    Object.fromEntries(
      Array.from(
        String(headers['ratelimit']).matchAll(/"([a-z]+)";r=(\d+)(?:;t=(\d+))?/g),
        ([, name, left, seconds]) => [
          name,
          { r: Number(left), t: seconds === undefined ? null : Number(seconds) },
        ],
      ),
    );

  it('tell each limit in force, and what it leaves', async () => {
    const caller = await buildCaller(api.db.database, 'test', { ratePerMinute: 3 });
    const first = await api.create(caller).expect(202);
    expect(first.headers['ratelimit-policy']).toBe('"account";q=3;w=60');
    expect(first.headers['ratelimit']).toBe('"account";r=2;t=60');
    await limitApplication(api.db.database, TEST_ACTOR, caller.applicationId, {
      perMinute: 2,
      perRecipientHour: 5,
    });
    const second = await api.create(caller).expect(202);
    expect(second.headers['ratelimit-policy']).toBe(
      '"account";q=3;w=60, "application";q=2;w=60, "recipient";q=5;w=3600',
    );
    expect(rateLimit(second)).toMatchObject({
      account: { r: 1 },
      application: { r: 0 },
      recipient: { r: 3 },
    });
    expect(rateLimit(second)['recipient']?.t).toBeGreaterThan(3_590);
  });

  it('on a refusal, tell what is exhausted and for how long, and no limit ends after Retry-After', async () => {
    const caller = await buildCaller(api.db.database, 'test', { ratePerMinute: 9 });
    await limitApplication(api.db.database, TEST_ACTOR, caller.applicationId, { perMinute: 1 });
    await api.create(caller).expect(202);
    const refused = await api.create(caller).expect(429);
    expect(rateLimit(refused)).toEqual({
      account: { r: 8, t: null },
      application: { r: 0, t: retryAfter(refused) },
    });
  });

  it('count a send until it leaves the window, and follow a limit that changes meanwhile', async () => {
    const caller = await buildCaller(api.db.database, 'test', { ratePerMinute: 5 });
    for (const left of [4, 3, 2]) {
      expect(rateLimit(await api.create(caller))['account']?.r).toBe(left);
      await age(caller, 20);
    }
    // The first is out; the oldest of the other two has 20 seconds left.
    const { account } = rateLimit(await api.create(caller).expect(202));
    expect(account?.r).toBe(2);
    expect(account?.t).toBeGreaterThan(10);
    expect(account?.t).toBeLessThanOrEqual(20);
    await api.db.sql('update accounts set rate_per_minute = 2 where id = $1', [caller.accountId]);
    expect(rateLimit(await api.create(caller).expect(429))['account']?.r).toBe(0);
    await age(caller, 20);
    // Two are left of four, and the limit is two.
    const refused = await api.create(caller).expect(429);
    expect(rateLimit(refused)['account']).toEqual({ r: 0, t: retryAfter(refused) });
    await api.db.sql('update accounts set rate_per_minute = 4 where id = $1', [caller.accountId]);
    expect(rateLimit(await api.create(caller).expect(202))['account']?.r).toBe(1);
  });

  it('are exact under concurrency: each accepted request is told another remainder', async () => {
    const caller = await buildCaller(api.db.database, 'test', { ratePerMinute: 20 });
    const answers = await Promise.all(Array.from({ length: 30 }, () => api.create(caller)));
    const accepted = answers.filter(({ status }) => status === 202);
    expect(accepted.map((answer) => rateLimit(answer)['account']?.r).toSorted((a, b) => a! - b!)).toEqual(
      Array.from({ length: 20 }, (_, left) => left),
    );
  });

  it('are on a 402, which takes nothing of a limit, and not on a repeat', async () => {
    const caller = await buildCaller(api.db.database, 'live', { ratePerMinute: 3, freeQuota: 1 });
    const key = { 'Idempotency-Key': 'once' };
    await api.create(caller, { to: PHONE }, key).expect(202);
    for (let count = 0; count < 2; count++)
      expect(rateLimit(await api.create(caller).expect(402))['account']?.r).toBe(2);
    const repeat = await api.create(caller, { to: PHONE }, key).expect(202);
    expect(repeat.headers).not.toHaveProperty('ratelimit');
  });
});

describe('units', () => {
  it('15 of them and 60 live sends at once are 15 entries of the ledger, each of its bucket', async () => {
    const caller = await buildCaller(api.db.database, 'live', { freeQuota: 10, credits: 5 });
    const all = await statuses(Array.from({ length: 60 }, () => api.create(caller)));
    expect([count(all, 202), count(all, 402)]).toEqual([15, 45]);
    expect(await findAccount(api.db.database, caller.accountId)).toMatchObject({
      freeQuota: 0,
      credits: 0,
    });
    const ledger = await api.db.sql(
      `select bucket, count(*)::integer as units from ledger_entries
       where account_id = $1 and kind = 'reserved' group by bucket order by bucket`,
      [caller.accountId],
    );
    expect(ledger).toEqual([
      { bucket: 'credit', units: 5 },
      { bucket: 'free_quota', units: 10 },
    ]);
  });
});

describe('the validity of codes', () => {
  it('follows its setting for new sends without a restart, and leaves old ones alone', async () => {
    const caller = await buildCaller(api.db.database, 'test');
    const life = ({ body }: Response): number => Date.parse(body.expires_at) - Date.parse(body.created_at);
    const old = await api.create(caller);
    expect(life(old)).toBe(600_000);
    await changeSetting(api.db.database, TEST_ACTOR, 'codeValiditySeconds', 90);
    expect(life(await api.create(caller))).toBe(90_000);
    expect((await api.status(caller, old.body.id)).body.expires_at).toBe(old.body.expires_at);
  });
});
