import type { Response } from 'supertest';
import { contractTest, PHONE, type ContractTarget } from './target.js';

const retryAfter = ({ headers }: Response): number => {
  expect(headers['retry-after']).toMatch(/^[1-9][0-9]*$/);
  return Number(headers['retry-after']);
};
const statuses = async (answers: PromiseLike<Response>[]): Promise<number[]> =>
  (await Promise.all(answers)).map(({ status }) => status);
const count = (all: number[], status: number): number => all.filter((one) => one === status).length;

/** Tests the rate limits of creation and their responses. */
export function testLimits(open: () => ContractTarget): void {
  const api = contractTest(open);

  describe.each(['test', 'live'] as const)('limits in %s mode', (mode) => {
    it('the account’s limit counts all applications of the account, and no other accounts', async () => {
      const one = await api.target.buildCaller(mode, { ratePerMinute: 3 });
      const two = await api.target.buildCaller(mode, { sibling: one });
      const other = await api.target.buildCaller(mode, { ratePerMinute: 3 });
      expect(await statuses([api.create(one), api.create(two), api.create(one)])).toEqual([202, 202, 202]);
      for (const caller of [one, two]) {
        const refused = await api.create(caller);
        expect(refused.body).toMatchObject({ status: 429, code: 'rate_limited' });
        expect(retryAfter(refused)).toBeGreaterThanOrEqual(50);
        expect(retryAfter(refused)).toBeLessThanOrEqual(60);
      }
      expect((await api.create(other)).status).toBe(202);
    });

    it('the application’s limit counts its own sends', async () => {
      const limited = await api.target.buildCaller(mode);
      const free = await api.target.buildCaller(mode, { sibling: limited });
      await api.target.limit(limited, { perMinute: 2 });
      expect(await statuses([api.create(limited), api.create(limited)])).toEqual([202, 202]);
      expect(retryAfter(await api.create(limited).expect(429))).toBeLessThanOrEqual(60);
      expect((await api.create(free)).status).toBe(202);
    });

    it('the recipient’s limit counts all forms of one number, for an hour', async () => {
      const caller = await api.target.buildCaller(mode);
      await api.target.limit(caller, { perRecipientHour: 2 });
      expect((await api.create(caller, { to: PHONE })).status).toBe(202);
      expect((await api.create(caller, { to: '+55 (11) 98765-4321' })).status).toBe(202);
      const refused = await api.create(caller, { to: '+55 11 98765 4321' }).expect(429);
      expect(retryAfter(refused)).toBeGreaterThan(3_500);
      expect(retryAfter(refused)).toBeLessThanOrEqual(3_600);
      expect((await api.create(caller, { to: '+5511987654322' })).status).toBe(202);
      await api.target.age(caller, 3_601);
      expect((await api.create(caller, { to: PHONE })).status).toBe(202);
    });

    it('a limit accepts exactly its number of concurrent requests', async () => {
      const caller = await api.target.buildCaller(mode, { ratePerMinute: 7, freeQuota: 100 });
      const all = await statuses(Array.from({ length: 30 }, () => api.create(caller)));
      expect([count(all, 202), count(all, 429)]).toEqual([7, 23]);
    });
  });

  describe('limits', () => {
    it('can be turned on, changed and turned off for an application at any time', async () => {
      const caller = await api.target.buildCaller('test');
      const limit = (limits: Parameters<ContractTarget['limit']>[1]) => api.target.limit(caller, limits);
      await api.create(caller).expect(202);
      await limit({ perMinute: 1 });
      await api.create(caller).expect(429);
      await limit({ perMinute: null, perRecipientHour: 1 });
      await api.create(caller).expect(429);
      await limit({ perRecipientHour: 2 });
      await api.create(caller).expect(202);
      await api.create(caller).expect(429);
      await limit({ perRecipientHour: null });
      await api.create(caller).expect(202);
    });

    it('apply to creation only', async () => {
      const caller = await api.target.buildCaller('test', { ratePerMinute: 1 });
      const { id } = (await api.create(caller)).body;
      await api.create(caller).expect(429);
      await api.status(caller, id).expect(200);
      await api.verify(caller, id, '1').expect(200);
      await api.request.get('/v1/signup-settings').expect(200);
    });
  });

  describe('Retry-After', () => {
    it('is exactly the time after which the same request is accepted', async () => {
      const caller = await api.target.buildCaller('test', { ratePerMinute: 2 });
      const key = { 'Idempotency-Key': 'later' };
      await api.create(caller).expect(202);
      await api.target.age(caller, 20);
      await api.create(caller).expect(202);
      const seconds = retryAfter(await api.create(caller, { to: PHONE }, key).expect(429));
      expect(seconds).toBeLessThanOrEqual(40);
      expect(seconds).toBeGreaterThan(25);
      await api.target.age(caller, seconds - 10);
      expect(retryAfter(await api.create(caller, { to: PHONE }, key).expect(429))).toBeLessThanOrEqual(10);
      await api.target.age(caller, 10);
      await api.create(caller, { to: PHONE }, key).expect(202);
    });

    it('is the wait of the limit that reopens last', async () => {
      const caller = await api.target.buildCaller('test', { ratePerMinute: 1 });
      await api.target.limit(caller, {
        perMinute: 1,
        perRecipientHour: 1,
      });
      await api.create(caller).expect(202);
      expect(retryAfter(await api.create(caller).expect(429))).toBeGreaterThan(3_000);
      expect(retryAfter(await api.create(caller, { to: '+5511987654322' }).expect(429))).toBeLessThanOrEqual(
        60,
      );
    });
  });

  describe('RateLimit and RateLimit-Policy', () => {
    /** Returns the limits of a response. Both headers must have the same limits in the same order, and nothing else. */
    const rateLimit = ({ headers }: Response): Record<string, { r: number; t: number | null }> => {
      const policies = String(headers['ratelimit-policy']).split(', ');
      const states = String(headers['ratelimit']).split(', ');
      const names = policies.map((policy) => /^"([a-z]+)";q=\d+;w=(?:60|3600)$/.exec(policy)?.[1]);
      const limits = states.map((state) => {
        const [, name, left, seconds] = /^"([a-z]+)";r=(\d+)(?:;t=([1-9]\d*))?$/.exec(state) ?? [];
        return [name, { r: Number(left), t: seconds === undefined ? null : Number(seconds) }] as const;
      });
      expect(limits.map(([name]) => name)).toEqual(names);
      return Object.fromEntries(limits) as Record<string, { r: number; t: number | null }>;
    };

    it('report each active limit and its remainder', async () => {
      const caller = await api.target.buildCaller('test', { ratePerMinute: 3 });
      const first = await api.create(caller).expect(202);
      expect(first.headers['ratelimit-policy']).toBe('"account";q=3;w=60');
      expect(first.headers['ratelimit']).toBe('"account";r=2;t=60');
      await api.target.limit(caller, {
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

    it('report the exhausted limits and their wait on a 429, none longer than Retry-After', async () => {
      const caller = await api.target.buildCaller('test', { ratePerMinute: 9 });
      await api.target.limit(caller, { perMinute: 1 });
      await api.create(caller).expect(202);
      const refused = await api.create(caller).expect(429);
      expect(rateLimit(refused)).toEqual({
        account: { r: 8, t: null },
        application: { r: 0, t: retryAfter(refused) },
      });
    });

    it('count a send until it leaves the window, and follow changes of the limit', async () => {
      const caller = await api.target.buildCaller('test', { ratePerMinute: 50 });
      await api.target.limit(caller, { perMinute: 5 });
      const application = async (status: number) =>
        rateLimit(await api.create(caller).expect(status))['application'];
      for (const left of [4, 3, 2]) {
        expect((await application(202))?.r).toBe(left);
        await api.target.age(caller, 20);
      }
      // The first send is outside of the window; the older of the other two has 20 seconds left.
      const fourth = await application(202);
      expect(fourth?.r).toBe(2);
      expect(fourth?.t).toBeGreaterThan(10);
      expect(fourth?.t).toBeLessThanOrEqual(20);
      await api.target.limit(caller, { perMinute: 2 });
      expect((await application(429))?.r).toBe(0);
      await api.target.age(caller, 20);
      // Two sends are left in the window, and the limit is two.
      const refused = await api.create(caller).expect(429);
      expect(rateLimit(refused)['application']).toEqual({ r: 0, t: retryAfter(refused) });
      await api.target.limit(caller, { perMinute: 4 });
      expect((await application(202))?.r).toBe(1);
    });

    it('report a different remainder to each concurrent request', async () => {
      const caller = await api.target.buildCaller('test', { ratePerMinute: 20 });
      const answers = await Promise.all(Array.from({ length: 30 }, () => api.create(caller)));
      const accepted = answers.filter(({ status }) => status === 202);
      expect(accepted.map((answer) => rateLimit(answer)['account']?.r).toSorted((a, b) => a! - b!)).toEqual(
        Array.from({ length: 20 }, (_, left) => left),
      );
    });

    it('are present on a 402, which counts toward no limit, and absent on a repeat', async () => {
      const caller = await api.target.buildCaller('live', { ratePerMinute: 3, freeQuota: 1, credits: 0 });
      const key = { 'Idempotency-Key': 'once' };
      await api.create(caller, { to: PHONE }, key).expect(202);
      for (let count = 0; count < 2; count++)
        expect(rateLimit(await api.create(caller).expect(402))).toEqual({ account: { r: 2, t: null } });
      const repeat = await api.create(caller, { to: PHONE }, key).expect(202);
      expect(repeat.headers).not.toHaveProperty('ratelimit');
    });
  });

  describe('units', () => {
    it('allow exactly 15 of 60 concurrent live sends if 15 are left, and refuse the rest with 402', async () => {
      const caller = await api.target.buildCaller('live', { freeQuota: 10, credits: 5 });
      const all = await statuses(Array.from({ length: 60 }, () => api.create(caller)));
      expect([count(all, 202), count(all, 402)]).toEqual([15, 45]);
      expect(await api.target.unitsOf(caller)).toMatchObject({ freeQuota: 0, credits: 0 });
    });
  });
}
