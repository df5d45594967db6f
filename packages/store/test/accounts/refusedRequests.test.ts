import { createHash, randomUUID } from 'node:crypto';
import {
  countRefusedRequests,
  deleteOldRefusedRequests,
  listRefusedRequests,
  type Page,
  type RefusedRequest,
  type RefusedRequestFilter,
} from '@onecode/store';
import { buildCaller, refuseRequests, useTestDatabase, type TestCaller } from '@onecode/testing';

const store = useTestDatabase();
let caller: TestCaller;
beforeEach(async () => {
  caller = await buildCaller(store.database, 'test');
});

const DAY_MS = 86_400_000;
const refuse = (code: string, requests: Partial<RefusedRequest>[], of = caller) =>
  refuseRequests(store.database, of, code, requests);
const list = async (filter: RefusedRequestFilter = {}, page: Page = { limit: 100 }, of = caller) =>
  listRefusedRequests(store.database, of.accountId, filter, page);
const idsOf = async (filter: RefusedRequestFilter, of = caller): Promise<string[]> =>
  (await list(filter, undefined, of)).requests.map(({ requestId }) => requestId);
const reasons = (filter: RefusedRequestFilter = {}, of = caller) =>
  countRefusedRequests(store.database, of.accountId, filter);
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

describe('refused requests', () => {
  it('are listed with all that is kept of them, by the database’s clock', async () => {
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

  it('that are written again have the new count, and are there once', async () => {
    const requestId = randomUUID();
    for (const count of [1, 1, 40]) await refuse('invalid_json', [{ requestId, count }]);
    expect((await list()).requests).toMatchObject([{ requestId, count: 40 }]);
  });

  it('are counted by what was said, whether or not each is listed', async () => {
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

  it('are listed by application, time and what was said', async () => {
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

  it('are found by id and by the hash of their idempotency key', async () => {
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

  it('are an account’s own, whatever is looked for', async () => {
    const other = await buildCaller(store.database, 'test');
    const requestId = randomUUID();
    const idempotencyKeyHash = sha256('order-7');
    await refuse('invalid_json', [{}]);
    await refuse('invalid_json', [{ requestId, idempotencyKeyHash }], other);
    expect(await idsOf({ search: { requestId, idempotencyKeyHashes: [idempotencyKeyHash] } })).toEqual([]);
    expect(await idsOf({ applicationId: other.applicationId })).toEqual([]);
    expect(await reasons({ applicationId: other.applicationId })).toEqual([]);
    // A cursor of another account's leads nowhere.
    expect(await list({}, { limit: 5, before: requestId })).toEqual({ requests: [], next: null });
    expect(await idsOf({}, other)).toEqual([requestId]);
  });

  it('are listed when their key is there no more', async () => {
    await refuse('invalid_json', [{ keyId: randomUUID() }]);
    expect((await list()).requests).toMatchObject([{ keyHint: null }]);
  });

  it('are read by pages, each once, the newest first, also where many share a time', async () => {
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

  it('are gone after fourteen days, and not before', async () => {
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
