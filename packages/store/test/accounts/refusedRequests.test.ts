import { createHash, randomUUID } from 'node:crypto';
import {
  deleteOldRefusedRequests,
  findRefusedRequests,
  listRefusedApplications,
  listRefusedRequests,
  newId,
  REFUSED_REQUESTS_PER_MINUTE,
  storeRefusedRequests,
  sumRefusedRequests,
  type Page,
  type RefusedRequest,
  type RefusedRequestGroup,
} from '@onecode/store';
import { buildCaller, useTestDatabase, type TestCaller } from '@onecode/testing';

const store = useTestDatabase();
let caller: TestCaller;
beforeEach(async () => {
  caller = await buildCaller(store.database, 'test');
});

const ALL: Page = { limit: 100 };

const request = (change: Partial<RefusedRequest> = {}, of = caller): RefusedRequest => ({
  requestId: randomUUID(),
  keyId: of.keyId,
  ageMs: 0,
  route: 'POST /v1/send',
  status: 422,
  detail: null,
  fields: [],
  idempotencyKeyHash: null,
  ...change,
});

const group = (
  requests: RefusedRequest[],
  change: Partial<RefusedRequestGroup> = {},
  of = caller,
): RefusedRequestGroup => ({
  accountId: of.accountId,
  applicationId: of.applicationId,
  code: 'invalid_json',
  count: requests.length,
  ageMs: 0,
  requests,
  ...change,
});

const many = (count: number, change: Partial<RefusedRequest> = {}): RefusedRequest[] =>
  Array.from({ length: count }, () => request(change));
const list = (filter = {}, page = ALL, of = caller) =>
  listRefusedRequests(store.database, of.accountId, filter, page);
const sums = (filter = {}, of = caller) => sumRefusedRequests(store.database, of.accountId, filter);

describe('refused requests', () => {
  it('are listed with all that is kept of them, by the database’s clock', async () => {
    const hash = createHash('sha256').update('order-1').digest();
    const full = request({
      detail: 'A sentence.',
      fields: ['to', 'code'],
      idempotencyKeyHash: hash,
      ageMs: 5_000,
    });
    expect(await storeRefusedRequests(store.database, [group([full])])).toBe(1);
    const { requests, next } = await list();
    expect(next).toBeNull();
    expect(requests).toEqual([
      {
        requestId: full.requestId,
        refusedAt: expect.any(Date) as Date,
        route: 'POST /v1/send',
        status: 422,
        code: 'invalid_json',
        detail: 'A sentence.',
        fields: ['to', 'code'],
        keyHint: expect.stringMatching(/^ak_test_…/) as string,
        applicationId: caller.applicationId,
        applicationName: 'Test test',
      },
    ]);
    const [age] = await store.sql<{ seconds: number }>(
      'select extract(epoch from clock_timestamp() - refused_at)::float8 as seconds from refused_requests where request_id = $1',
      [full.requestId],
    );
    expect(age!.seconds).toBeGreaterThanOrEqual(5);
  });

  it('are counted beyond the first ones of a minute, whichever process they come from', async () => {
    // Well within one minute, whenever the test runs: a count that is there already, of the minute of the database's clock.
    const batches = Array.from({ length: 4 }, () => group(many(8), { count: 1_000 }));
    let kept = 0;
    for (const batch of batches) kept += await storeRefusedRequests(store.database, [batch]);
    const minutes = await store.sql<{ count: string }>(
      'select count from refused_request_counts where account_id = $1',
      [caller.accountId],
    );
    expect((await sums())[0]).toMatchObject({ code: 'invalid_json', count: 4_000 });
    expect(kept).toBeLessThanOrEqual(REFUSED_REQUESTS_PER_MINUTE * minutes.length);
    expect((await list()).requests).toHaveLength(kept);
  });

  it('of different codes and applications have room of their own', async () => {
    const other = await buildCaller(store.database, 'live', { id: caller.accountId });
    const groups = [
      group(many(REFUSED_REQUESTS_PER_MINUTE)),
      group(many(REFUSED_REQUESTS_PER_MINUTE), { code: 'rate_limited' }),
      group([request({}, other)], {}, other),
    ];
    expect(await storeRefusedRequests(store.database, groups)).toBe(2 * REFUSED_REQUESTS_PER_MINUTE + 1);
    expect(await list({ applicationId: other.applicationId })).toMatchObject({
      requests: [{ applicationId: other.applicationId }],
    });
    expect(await sums({ applicationId: other.applicationId })).toMatchObject([{ count: 1, kept: 1 }]);
    expect((await list({ code: 'rate_limited' })).requests).toHaveLength(REFUSED_REQUESTS_PER_MINUTE);
    expect((await listRefusedApplications(store.database, caller.accountId)).map(({ id }) => id)).toEqual([
      other.applicationId,
      caller.applicationId,
    ]);
  });

  it('of groups that turn out to be of one minute share its room and its count', async () => {
    const groups = [group(many(15)), group(many(15)), group(many(15))];
    expect(await storeRefusedRequests(store.database, groups)).toBe(REFUSED_REQUESTS_PER_MINUTE);
    expect(await sums()).toMatchObject([{ count: 45, kept: REFUSED_REQUESTS_PER_MINUTE }]);
  });

  it('are not kept twice when an answer of the database is lost and they are written again', async () => {
    const lost = [group([request()])];
    await storeRefusedRequests(store.database, lost);
    expect(await storeRefusedRequests(store.database, lost)).toBe(0);
    expect((await list()).requests).toHaveLength(1);
  });

  it('from several processes at a time wait for each other without a deadlock', async () => {
    const others = await Promise.all([1, 2, 3].map(() => buildCaller(store.database, 'test')));
    const groups = others.map((one) => group([request({}, one)], {}, one));
    await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        storeRefusedRequests(store.database, n % 2 === 0 ? groups : groups.toReversed()),
      ),
    );
    for (const one of others) expect((await sums({}, one))[0]).toMatchObject({ count: 40 });
  });

  it('of a key that is gone, as of a tryout, are listed without it, as they are counted', async () => {
    const tried = request({ keyId: newId() });
    await storeRefusedRequests(store.database, [group([tried])]);
    expect((await list()).requests).toMatchObject([{ requestId: tried.requestId, keyHint: null }]);
    expect(await sums()).toMatchObject([{ count: 1, kept: 1 }]);
  });

  it('are read by pages, each once, the newest first, also where many share a time', async () => {
    await storeRefusedRequests(store.database, [group([...many(5, { ageMs: 9_000 }), ...many(4)])]);
    const seen: string[] = [];
    let before: string | undefined;
    do {
      const page = await list({}, { limit: 4, ...(before !== undefined && { before }) });
      seen.push(...page.requests.map(({ requestId }) => requestId));
      before = page.next ?? undefined;
    } while (before !== undefined);
    expect(seen).toEqual((await list()).requests.map(({ requestId }) => requestId));
    expect(new Set(seen).size).toBe(9);
  });

  it('are found by id and by the hash of their idempotency key, in their account only', async () => {
    const other = await buildCaller(store.database, 'test');
    const hash = createHash('sha256').update('order-7').digest();
    const [mine, keyed, theirs] = [
      request(),
      request({ idempotencyKeyHash: hash }),
      request({ idempotencyKeyHash: hash }, other),
    ];
    await storeRefusedRequests(store.database, [group([mine, keyed]), group([theirs], {}, other)]);
    const found = async (search: object, of = caller): Promise<string[]> =>
      (
        await findRefusedRequests(store.database, of.accountId, { idempotencyKeyHashes: [], ...search }, ALL)
      ).requests.map(({ requestId }) => requestId);
    expect(await found({ requestId: mine.requestId })).toEqual([mine.requestId]);
    expect(await found({ idempotencyKeyHashes: [hash] })).toEqual([keyed.requestId]);
    expect(await found({ requestId: theirs.requestId })).toEqual([]);
    expect(await found({ requestId: newId() })).toEqual([]);
    expect(await found({ idempotencyKeyHashes: [hash] }, other)).toEqual([theirs.requestId]);
    expect(await found({})).toEqual([]);
    expect(await sums({ applicationId: other.applicationId })).toEqual([]);
    // A cursor of another account's leads nowhere.
    expect(await list({}, { limit: 5, before: theirs.requestId })).toEqual({ requests: [], next: null });
  });

  it('with one idempotency key or an id are read by pages, each once, the newest first', async () => {
    const hashes = ['order-1', 'order-2'].map((key) => createHash('sha256').update(key).digest());
    const keyed = hashes.flatMap((idempotencyKeyHash) => [
      ...many(2, { idempotencyKeyHash, ageMs: 9_000 }),
      ...many(2, { idempotencyKeyHash }),
    ]);
    const one = request({ ageMs: 5_000 });
    await storeRefusedRequests(store.database, [
      group([...keyed, one]),
      group([request()], { code: 'rate_limited' }),
    ]);
    // Named twice, by its id and by its key.
    for (const requestId of [one.requestId, keyed[0]!.requestId]) {
      const search = { requestId, idempotencyKeyHashes: hashes };
      const find = (page: Page) => findRefusedRequests(store.database, caller.accountId, search, page);
      const all = (await find(ALL)).requests;
      expect(new Set(all.map((found) => found.requestId))).toEqual(
        new Set([...keyed.map((found) => found.requestId), requestId]),
      );
      expect(all).toEqual(
        (await list()).requests.filter((listed) => all.some((found) => found.requestId === listed.requestId)),
      );
      const seen: string[] = [];
      let before: string | undefined;
      do {
        const page = await find({ limit: 2, ...(before !== undefined && { before }) });
        seen.push(...page.requests.map((found) => found.requestId));
        before = page.next ?? undefined;
      } while (before !== undefined);
      expect(seen).toEqual(all.map((found) => found.requestId));
    }
  });

  it('of a period are those of its hours', async () => {
    await storeRefusedRequests(store.database, [
      group([request()]),
      group([request({ ageMs: 7_200_000 })], { code: 'rate_limited', ageMs: 7_200_000 }),
    ]);
    expect((await list({ hours: 1 })).requests).toMatchObject([{ code: 'invalid_json' }]);
    expect((await sums({ hours: 1 })).map(({ code }) => code)).toEqual(['invalid_json']);
    expect((await sums({ hours: 3 })).map(({ code }) => code)).toEqual(['invalid_json', 'rate_limited']);
  });

  it('and their counts are gone after fourteen days, and not before', async () => {
    const daysMs = 86_400_000;
    await storeRefusedRequests(store.database, [
      group(many(3, { ageMs: 14 * daysMs + 120_000 }), { ageMs: 14 * daysMs + 120_000 }),
      group([request({ ageMs: 13.9 * daysMs })], { ageMs: 13.9 * daysMs }),
    ]);
    while ((await deleteOldRefusedRequests(store.database, 2)) >= 2);
    expect((await list()).requests).toHaveLength(1);
    expect(await sums()).toMatchObject([{ count: 1 }]);
  });
});
