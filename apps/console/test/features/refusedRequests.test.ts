import { createHash, randomUUID } from 'node:crypto';
import { buildCaller, refuseRequests, type TestCaller } from '@onecode/testing';
import type { RefusedRequestsView } from '../../src/features/refusedRequests/view.js';
import { useConsole } from '../console.js';
import { person, type TestPerson } from '../people.js';

const server = useConsole();
let ours: TestCaller;
let member: TestPerson;
let onCall: TestPerson;
const hash = createHash('sha256').update('order-7').digest();
const ids = { mine: randomUUID(), keyed: randomUUID() };

beforeAll(async () => {
  const { database } = server.db;
  ours = await buildCaller(database, 'live');
  member = await person(server, { accounts: { [ours.accountId]: 'viewer' } });
  onCall = await person(server, { staff: 'on_call' });
  await refuseRequests(database, ours, 'rate_limited', [
    { requestId: ids.mine, status: 429, detail: 'A limit.', route: 'POST /v1/send/:id/verify', ageMs: 1 },
  ]);
  await refuseRequests(database, ours, 'invalid_recipient', [
    { requestId: ids.keyed, fields: ['to'], idempotencyKeyHash: hash, count: 30 },
  ]);
});

const read = (query: object, who = member, of = ours) =>
  who.post<RefusedRequestsView>(
    `${who === onCall ? '/staff' : ''}/accounts/${of.accountId}/refused-requests/search`,
    query,
  );
const found = async (text: string, who = member, of = ours): Promise<string[]> =>
  (await read({ text }, who, of)).body.requests.map(({ requestId }) => requestId);

describe('refused requests in the console', () => {
  it('are counted by reason, newest first, and listed with the route of the API reference', async () => {
    const { body } = await read({});
    const keyed = { status: 422, code: 'invalid_recipient', fields: ['to'], count: 30, defence: null };
    const mine = { status: 429, code: 'rate_limited', detail: 'A limit.', fields: [], count: 1 };
    const facts = {
      application: { id: ours.applicationId, name: 'Test live' },
      keyHint: expect.stringMatching(/^ak_live_/) as string,
    };
    expect(body).toMatchObject({
      reasons: [keyed, mine],
      requests: [
        { ...keyed, ...facts, requestId: ids.keyed, route: 'POST /v1/send' },
        { ...mine, ...facts, requestId: ids.mine, route: 'POST /v1/send/{id}/verify' },
      ],
      next: null,
    });
  });

  it('are found in their account by request id, and by a key in UTF-8 or latin1, even one that looks like an id', async () => {
    expect(await found(ids.mine.toUpperCase())).toEqual([ids.mine]);
    expect(await found('order-7')).toEqual([ids.keyed]);
    expect(await found('order-8')).toEqual([]);
    const caller = await buildCaller(server.db.database, 'live');
    const sent = [
      ['ação', 'utf8'],
      ['ação', 'latin1'],
      ['注文', 'utf8'],
      [randomUUID(), 'utf8'],
    ] as const;
    const requests = sent.map(([key, encoding], ageMs) => ({
      requestId: randomUUID(),
      idempotencyKeyHash: createHash('sha256').update(key, encoding).digest(),
      ageMs,
    }));
    await refuseRequests(server.db.database, caller, 'invalid_json', requests);
    const [utf8, latin1, wide, uuid] = requests.map(({ requestId }) => requestId);
    expect(await found('ação', onCall, caller)).toEqual([utf8, latin1]);
    expect(await found('注文', onCall, caller)).toEqual([wide]);
    expect(await found(sent[3][0], onCall, caller)).toEqual([uuid]);
    expect(await found('注文')).toEqual([]);
  });

  it('are listed page by page and by reason', async () => {
    const caller = await buildCaller(server.db.database, 'live');
    const many = Array.from({ length: 60 }, () => ({ detail: 'One.' }));
    await refuseRequests(server.db.database, caller, 'invalid_json', [...many, { detail: 'Two.' }]);
    const said = { hours: 1, code: 'invalid_json', detail: 'One.', fields: [] };
    const first = await read(said, onCall, caller);
    const second = await read({ ...said, before: first.body.next }, onCall, caller);
    const all = [...first.body.requests, ...second.body.requests].map(({ requestId }) => requestId);
    expect(new Set(all).size).toBe(60);
    expect(first.body.reasons).toHaveLength(2);
    expect(second.body).toMatchObject({ reasons: [], next: null });
  });

  it('are not listed for an invalid filter', async () => {
    const queries = [{ hours: 0 }, { hours: 337 }, { code: 'A' }, { before: 'x' }, { key: 'order-7' }];
    for (const query of [...queries, { text: '' }, { text: 'x'.repeat(256) }])
      expect((await read(query)).status).toBe(422);
  });
});
