import { createHash, randomUUID } from 'node:crypto';
import {
  changeAccount,
  findAccount,
  readBreakerEvidence,
  resetBreaker,
  tripBreaker,
  type CountryEvidence,
} from '@onecode/store/accounts';
import {
  countRefusedRequests,
  listBreakerTrips,
  listRefusedRequests,
  type Page,
  type RefusedRequestFilter,
  deleteOldRefusedRequests,
} from '@onecode/store/reports';
import { createSend } from '@onecode/store/sends';
import {
  buildCaller,
  buildSender,
  newSend,
  refuseRequests,
  TEST_ACTOR,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';

const store = useTestDatabase();

describe('the breaker', () => {
  const RULE = { unverifiedPercent: 90, minSends: 10 };
  const HOUR = 3600;

  let senderId: string;
  let caller: TestCaller;
  beforeAll(async () => {
    senderId = (await buildSender(store.database)).id;
  });
  beforeEach(async () => {
    await store.sql('update accounts set breaker_unverified_percent = null, breaker_min_sends = null');
    caller = await buildCaller(store.database, 'live', { freeQuota: 2000, ratePerMinute: 10_000 });
    await changeAccount(store.database, TEST_ACTOR, caller.accountId, { breaker: RULE });
  });

  const create = (by: TestCaller, country: string) => createSend(store.database, { ...newSend(by), country });
  const outcomes = async (...countries: string[]): Promise<string[]> => {
    const all: string[] = [];
    for (const country of countries) all.push((await create(caller, country)).outcome);
    return all;
  };

  interface Past {
    count: number;
    country?: string;
    /** How many of them were verified. */
    verified?: number;
    ageSeconds?: number;
    /** When they were sent; null while they wait. */
    sentAfterSeconds?: number | null;
  }

  /** Creates live sends in the past. @returns their ids */
  async function past(batch: Past, by: TestCaller = caller): Promise<string[]> {
    const { count, country = 'NG', verified = 0, ageSeconds = 300, sentAfterSeconds = 1 } = batch;
    const creations = await Promise.all(Array.from({ length: count }, () => create(by, country)));
    const ids = creations.map((creation) => {
      if (creation.outcome !== 'created') throw new Error(creation.outcome);
      return creation.send.id;
    });
    if (sentAfterSeconds !== null)
      await store.sql(
        `update sends set status = 'sent', phase = 'done', channel = 'whatsapp', from_number = '+15550783881', sender_id = $2, encrypted_code = null,
           due_at = null, sent_at = created_at + make_interval(secs => $3) where id = any ($1)`,
        [ids, senderId, sentAfterSeconds],
      );
    await store.sql(
      `update sends set verification = 'verified', verified_at = created_at where id = any ($1)`,
      [ids.slice(0, verified)],
    );
    return shift(ids, -ageSeconds);
  }

  /** Moves the creation of sends in time, with their ids. @returns their new ids, in order */
  async function shift(ids: readonly string[], seconds: number): Promise<string[]> {
    const shifted = await store.sql<{ id: string }>(
      `update sends set created_at = created_at + t.by, expires_at = expires_at + t.by, sent_at = sent_at + t.by,
         verified_at = verified_at + t.by, id = overlay(id::text placing left(first_id_at(created_at + t.by)::text, 13) from 1)::uuid
       from (select make_interval(secs => $2) as by) t where id = any ($1) returning id`,
      [ids, seconds],
    );
    return shifted.map(({ id }) => id).toSorted();
  }

  const evidence = (): Promise<CountryEvidence[]> => readBreakerEvidence(store.database);
  /** The evidence for each country: sends and unverified ones. */
  const statistics = async (): Promise<Record<string, [number, number]>> =>
    Object.fromEntries(
      (await evidence()).map(({ country, sends, unverified }) => [country, [sends, unverified]]),
    );
  const evidenceOn = async (country: string): Promise<CountryEvidence> =>
    (await evidence()).find((one) => one.country === country)!;
  const trip = async (country: string): Promise<boolean> =>
    tripBreaker(store.database, await evidenceOn(country));

  describe('readBreakerEvidence', () => {
    it('groups an account’s sends by country, with ZZ for numbers without a country', async () => {
      const other = await buildCaller(store.database, 'live', { freeQuota: 1000 });
      await past({ count: 4 });
      await past({ count: 3, country: 'BR', verified: 2 });
      await past({ count: 2, country: 'ZZ' });
      await past({ count: 9 }, other);
      expect(await statistics()).toEqual({ NG: [4, 4], BR: [3, 1], ZZ: [2, 2] });
      expect(await evidenceOn('NG')).toMatchObject({
        accountId: caller.accountId,
        rule: RULE,
      });
    });

    it('excludes sends that are too young, too old, failed, or sent late', async () => {
      await past({ count: 1, ageSeconds: 60 });
      await past({ count: 1, ageSeconds: 86_401 });
      await past({ count: 1, sentAfterSeconds: null });
      await past({ count: 1, sentAfterSeconds: 61 });
      const failed = await past({ count: 1 });
      await store.sql(
        `update sends set status = 'failed', failed_at = sent_at, failure_reason = 'rejected_by_provider' where id = $1`,
        failed,
      );
      expect(await statistics()).toEqual({});
      await past({ count: 1, ageSeconds: 121 });
      await past({ count: 1, verified: 1, sentAfterSeconds: 61 });
      expect(await statistics()).toEqual({ NG: [2, 1] });
    });

    it('excludes test sends', async () => {
      const test = await buildCaller(store.database, 'test', { id: caller.accountId });
      await past({ count: 2 });
      for (let n = 0; n < 5; n++) await create(test, 'NG');
      await store.sql(
        `update sends set created_at = created_at - interval '5 min', expires_at = expires_at - interval '5 min', status = 'read', phase = 'done',
           channel = 'sandbox', sent_at = created_at - interval '5 min', delivered_at = now(), read_at = now(), due_at = null
         where mode = 'test'`,
      );
      expect(await statistics()).toEqual({ NG: [2, 2] });
    });

    it('counts a denied send as unverified', async () => {
      const ids = await past({ count: 6, verified: 6 });
      await store.sql('update sends set denied_at = now() where id = any ($1)', [ids.slice(0, 3)]);
      expect(await evidenceOn('NG')).toMatchObject({ sends: 6, unverified: 3 });
    });

    it('reads the latest 1,000 sends that are old enough', async () => {
      await past({ count: 3, country: 'US', ageSeconds: 3600 });
      const ids = await past({ count: 998, ageSeconds: 300 });
      expect(await statistics()).toEqual({ NG: [998, 998], US: [2, 2] });
      await shift(ids.slice(-200), 240);
      expect(await statistics()).toEqual({ NG: [798, 798], US: [3, 3] });
    });
  });

  describe('a tripped breaker', () => {
    it('blocks its country for the account until its end', async () => {
      await past({ count: 10 });
      expect(await trip('NG')).toBe(true);
      const refused = await create(caller, 'NG');
      expect(refused).toMatchObject({
        outcome: 'rate_limited',
        cause: 'breaker',
        retryAfterSeconds: expect.any(Number),
      });
      if (refused.outcome === 'rate_limited') {
        expect(refused.retryAfterSeconds).toBeLessThanOrEqual(HOUR);
        expect(refused.retryAfterSeconds).toBeGreaterThan(HOUR - 60);
      }
      expect(await outcomes('BR', 'ZZ')).toEqual(['created', 'created']);
      const other = await buildCaller(store.database, 'live');
      const test = await buildCaller(store.database, 'test', { id: caller.accountId });
      expect([(await create(other, 'NG')).outcome, (await create(test, 'NG')).outcome]).toEqual([
        'created',
        'created',
      ]);
      expect(await findAccount(store.database, caller.accountId)).toMatchObject({
        blockedCountries: ['NG'],
      });
    });

    it('allows numbers that verified a live code of the account before', async () => {
      const [known, foreign, new_] = ['+5511987650001', '+5511987650002', '+5511987650003'] as const;
      const to = (recipient: string, by = caller) =>
        createSend(store.database, { ...newSend(by, { recipient }), country: 'NG' });
      const other = await buildCaller(store.database, 'live');
      for (const creation of [await to(known), await to(foreign, other)])
        if (creation.outcome === 'created')
          await store.sql(
            `update sends set verification = 'verified', verified_at = created_at where id = $1`,
            [creation.send.id],
          );
      await past({ count: 10 });
      await trip('NG');
      expect((await to(known)).outcome).toBe('created');
      for (const recipient of [foreign, new_])
        expect(await to(recipient)).toMatchObject({ outcome: 'rate_limited', cause: 'breaker' });
    });

    it('lists prefixes that at least five recipients share, while it is open', async () => {
      await past({ count: 10, verified: 1 });
      const few = await past({ count: 4 });
      await past({ count: 6, country: 'BR' });
      await past({ count: 5, sentAfterSeconds: 61 });
      for (const [index, id] of few.entries())
        await store.sql('update sends set recipient = $1 where id = $2', [`+23480312345${index}`, id]);
      expect(await trip('NG')).toBe(true);

      const list = () => listBreakerTrips(store.database, caller.accountId);
      const trips = await list();
      expect(trips).toMatchObject([{ country: 'NG', isOpen: true, sends: 14, unverified: 13 }]);
      expect(trips[0]!.prefixes).toEqual([{ prefix: '+5511980', sends: 10, verified: 1 }]);

      await resetBreaker(store.database, TEST_ACTOR, caller.accountId);
      expect(await list()).toMatchObject([{ country: 'NG', isOpen: false, prefixes: [] }]);
    });

    it('blocks once for concurrent callers with the same evidence', async () => {
      await past({ count: 10 });
      const same = await evidenceOn('NG');
      const trips = await Promise.all(Array.from({ length: 8 }, () => tripBreaker(store.database, same)));
      expect(trips.filter(Boolean)).toHaveLength(1);
    });

    it.each([
      ['a reset', () => resetBreaker(store.database, TEST_ACTOR, caller.accountId)],
      [
        'its end',
        () =>
          store.sql(
            `update breaker_trips set tripped_at = tripped_at - interval '1 h', open_until = tripped_at + interval '1 ms'
             where account_id = $1`,
            [caller.accountId],
          ),
      ],
    ])('ends after %s, and needs new evidence to trip again', async (_, end) => {
      await past({ count: 10 });
      await trip('NG');
      await end();
      expect(await outcomes('NG')).toEqual(['created']);
      expect(await findAccount(store.database, caller.accountId)).toMatchObject({
        blockedCountries: [],
      });
      expect(await statistics()).toEqual({});
      // Simulates a trip that ended before the following sends.
      await store.sql(
        `update breaker_trips set tripped_at = tripped_at - interval '2 h', open_until = now() - interval '6 min'`,
      );
      await past({ count: 10 });
      expect(await trip('NG')).toBe(true);
      expect(await outcomes('NG')).toEqual(['rate_limited']);
    });

    it('ends when the breaker is turned off, and stays ended when it is turned on', async () => {
      await past({ count: 10 });
      const same = await evidenceOn('NG');
      await tripBreaker(store.database, same);
      expect(
        await changeAccount(store.database, TEST_ACTOR, caller.accountId, { breaker: null }),
      ).toMatchObject({
        breaker: null,
        blockedCountries: [],
      });
      expect(await tripBreaker(store.database, same)).toBe(false);
      expect(await outcomes('NG')).toEqual(['created']);
      await changeAccount(store.database, TEST_ACTOR, caller.accountId, { breaker: RULE });
      expect(await outcomes('NG')).toEqual(['created']);
    });
  });
});

describe.each(['live', 'test'] as const)('a recipient in %s mode', (mode) => {
  let caller: TestCaller;
  beforeEach(async () => {
    caller = await buildCaller(store.database, mode);
  });
  const create = async (to: { country: string } | { isPremiumRate: true }): Promise<string> => {
    const end = await createSend(store.database, { ...newSend(caller), ...to });
    return 'cause' in end ? end.cause : end.outcome;
  };

  it('is refused outside the allowed countries, or without a country unless all countries are allowed', async () => {
    const ends = async () => [
      await create({ country: 'BR' }),
      await create({ country: 'US' }),
      await create({ country: 'ZZ' }),
    ];
    await changeAccount(store.database, TEST_ACTOR, caller.accountId, { allowedCountries: ['BR'] });
    expect(await ends()).toEqual(['created', 'country', 'country']);
    await changeAccount(store.database, TEST_ACTOR, caller.accountId, { allowedCountries: null });
    expect(await ends()).toEqual(['created', 'created', 'created']);
  });

  it('is refused if it is premium-rate and the account refuses premium-rate numbers', async () => {
    await changeAccount(store.database, TEST_ACTOR, caller.accountId, { allowsPremiumRate: false });
    expect([await create({ isPremiumRate: true }), await create({ country: 'BR' })]).toEqual([
      'range',
      'created',
    ]);
    await changeAccount(store.database, TEST_ACTOR, caller.accountId, { allowsPremiumRate: true });
    expect(await create({ isPremiumRate: true })).toBe('created');
  });
});

describe('refused requests', () => {
  let caller: TestCaller;
  beforeEach(async () => {
    caller = await buildCaller(store.database, 'test');
  });

  const DAY_MS = 86_400_000;
  const refuse = (code: string, requests: Parameters<typeof refuseRequests>[3], of = caller) =>
    refuseRequests(store.database, of, code, requests);
  const list = async (filter: RefusedRequestFilter = {}, page: Page = { limit: 100 }, of = caller) =>
    listRefusedRequests(store.database, of.accountId, filter, page);
  const idsOf = async (filter: RefusedRequestFilter, of = caller): Promise<string[]> =>
    (await list(filter, undefined, of)).requests.map(({ requestId }) => requestId);
  const reasons = (filter: RefusedRequestFilter = {}, of = caller) =>
    countRefusedRequests(store.database, of.accountId, filter);
  const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

  it('are listed with all stored fields', async () => {
    const requestId = randomUUID();
    await refuse('invalid_json', [
      { requestId, detail: 'It is no JSON.', fields: ['to', 'code'], ageMs: 5_000, count: 7 },
    ]);
    expect(await list()).toEqual({
      requests: [
        {
          requestId,
          refusedAt: expect.any(Date) as Date,
          route: 'POST /v1/send',
          status: 422,
          code: 'invalid_json',
          detail: 'It is no JSON.',
          fields: ['to', 'code'],
          count: 7,
          keyHint: expect.stringMatching(/^ak_test_…/) as string,
          applicationId: caller.applicationId,
          applicationName: 'Test test',
        },
      ],
      next: null,
    });
    const [age] = await store.sql<{ seconds: number }>(
      'select extract(epoch from clock_timestamp() - refused_at)::float8 as seconds from refused_requests where request_id = $1',
      [requestId],
    );
    expect(age!.seconds).toBeGreaterThanOrEqual(5);
  });

  it('are counted by reason, application and time', async () => {
    const other = await buildCaller(store.database, 'live', { id: caller.accountId });
    const said = { detail: 'It has no country code.', fields: ['to'] };
    await refuse('invalid_recipient', [said, { ...said, count: 30 }, { ...said, fields: ['to', 'code'] }]);
    await refuse('invalid_recipient', [said], other);
    await refuse('rate_limited', [{ status: 429, detail: 'Too many.', ageMs: 7_200_000 }]);
    const facts = { status: 422, code: 'invalid_recipient', lastRefusedAt: expect.any(Date) as Date };
    expect(await reasons()).toEqual([
      { ...facts, ...said, count: 32 },
      { ...facts, ...said, fields: ['to', 'code'], count: 1 },
      { ...facts, status: 429, code: 'rate_limited', detail: 'Too many.', fields: [], count: 1 },
    ]);
    expect(await reasons({ applicationId: other.applicationId })).toMatchObject([{ ...said, count: 1 }]);
    expect((await reasons({ hours: 1 })).map(({ code }) => code)).not.toContain('rate_limited');
  });

  it('can be filtered by application, time and reason', async () => {
    const other = await buildCaller(store.database, 'live', { id: caller.accountId });
    const ids = Array.from({ length: 4 }, () => randomUUID()) as [string, string, string, string];
    await refuse('invalid_json', [{ requestId: ids[0], detail: 'One.', ageMs: 7_200_000 }]);
    await refuse('invalid_json', [
      { requestId: ids[1], detail: 'Two.', ageMs: 2 },
      { requestId: ids[2], detail: 'Two.', fields: ['to'], ageMs: 1 },
    ]);
    await refuse('rate_limited', [{ requestId: ids[3], detail: 'Two.' }], other);
    expect(await idsOf({})).toEqual(ids.toReversed());
    expect(await idsOf({ hours: 1, code: 'invalid_json' })).toEqual([ids[2], ids[1]]);
    expect(await idsOf({ applicationId: other.applicationId })).toEqual([ids[3]]);
    expect(await idsOf({ code: 'invalid_json', detail: 'Two.', fields: [] })).toEqual([ids[1]]);
    expect(await idsOf({ code: 'invalid_json', detail: 'Two.', fields: ['to'] })).toEqual([ids[2]]);
  });

  it('can be found by request id and by the hash of the idempotency key', async () => {
    const [requestId, keyed] = [randomUUID(), randomUUID()];
    await refuse('invalid_json', [
      { requestId, ageMs: 1 },
      { requestId: keyed, idempotencyKeyHash: sha256('order-7') },
      { idempotencyKeyHash: sha256('order-8') },
    ]);
    const find = (id: string | null, ...keys: string[]) =>
      idsOf({ search: { requestId: id, idempotencyKeyHashes: keys.map(sha256) } });
    expect(await find(requestId)).toEqual([requestId]);
    expect(await find(null, 'order-7')).toEqual([keyed]);
    expect(await find(requestId, 'order-9', 'order-7')).toEqual([keyed, requestId]);
    expect(await find(randomUUID(), 'order-9')).toEqual([]);
  });

  it('are visible only to their account, for any filter', async () => {
    const other = await buildCaller(store.database, 'test');
    const requestId = randomUUID();
    const idempotencyKeyHash = sha256('order-7');
    await refuse('invalid_json', [{}]);
    await refuse('invalid_json', [{ requestId, idempotencyKeyHash }], other);
    expect(await idsOf({ search: { requestId, idempotencyKeyHashes: [idempotencyKeyHash] } })).toEqual([]);
    expect(await idsOf({ applicationId: other.applicationId })).toEqual([]);
    expect(await reasons({ applicationId: other.applicationId })).toEqual([]);
    // Another account's cursor finds nothing.
    expect(await list({}, { limit: 5, before: requestId })).toEqual({ requests: [], next: null });
    expect(await idsOf({}, other)).toEqual([requestId]);
  });

  it('are listed after their key was deleted', async () => {
    await refuse('invalid_json', [{ keyId: randomUUID() }]);
    expect((await list()).requests).toMatchObject([{ keyHint: null }]);
  });

  it('are paged newest first without repeats, even with equal times', async () => {
    await refuse('invalid_json', [
      ...Array.from({ length: 5 }, () => ({ ageMs: 9_000 })),
      ...Array.from({ length: 4 }, () => ({})),
    ]);
    const seen: string[] = [];
    let before: string | undefined;
    do {
      const page = await list({}, { limit: 4, ...(before !== undefined && { before }) });
      seen.push(...page.requests.map(({ requestId }) => requestId));
      before = page.next ?? undefined;
    } while (before !== undefined);
    expect(seen).toEqual(await idsOf({}));
    expect(new Set(seen).size).toBe(9);
  });

  it('are deleted after exactly fourteen days', async () => {
    const young = randomUUID();
    await refuse('invalid_json', [
      ...Array.from({ length: 3 }, () => ({ ageMs: 14 * DAY_MS + 60_000 })),
      { requestId: young, ageMs: 13.9 * DAY_MS },
    ]);
    expect(await deleteOldRefusedRequests(store.database, 2)).toBe(2);
    expect(await deleteOldRefusedRequests(store.database, 2)).toBe(1);
    expect(await idsOf({})).toEqual([young]);
  });
});
