import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { newId } from '@onecode/store';
import { buildCaller, buildSend, refuseRequests, tableContents, type TestCaller } from '@onecode/testing';
import type { RefusedRequestsView } from '../../src/features/refusedRequests/view.js';
import { useConsole } from '../console.js';
import { startLoudConsole } from '../loudConsole.js';
import { callConsole, person, type TestPerson } from '../people.js';

const SESSION_SECRET = randomBytes(32).toString('base64');

const server = useConsole({ SESSION_SECRET });
let ours: TestCaller;
let theirs: TestCaller;
let member: TestPerson;
let onCall: TestPerson;
const hash = createHash('sha256').update('order-7').digest();
const ids = { mine: randomUUID(), keyed: randomUUID(), theirs: randomUUID() };

beforeAll(async () => {
  const { database } = server.db;
  ours = await buildCaller(database, 'live');
  theirs = await buildCaller(database, 'live');
  member = await person(server, { accounts: { [ours.accountId]: 'viewer' } });
  onCall = await person(server, { staff: 'on_call' });
  await refuseRequests(database, ours, 'rate_limited', [
    { requestId: ids.mine, status: 429, detail: 'A limit.', route: 'POST /v1/send/:id/verify', ageMs: 1 },
  ]);
  await refuseRequests(database, ours, 'invalid_recipient', [
    { requestId: ids.keyed, fields: ['to'], idempotencyKeyHash: hash, count: 30 },
  ]);
  await refuseRequests(database, theirs, 'invalid_json', [
    { requestId: ids.theirs, idempotencyKeyHash: hash },
  ]);
});

const address = '/accounts/ACCOUNT/refused-requests/search';
const read = (query: object, who = member, of = ours) =>
  who.post<RefusedRequestsView>(
    `${who === onCall ? '/staff' : ''}${address.replace('ACCOUNT', of.accountId)}`,
    query,
  );
const found = async (text: string, who = member, of = ours): Promise<string[]> =>
  (await read({ text }, who, of)).body.requests.map(({ requestId }) => requestId);

describe('refused requests in the console', () => {
  it('are counted by what was said, the newest first, and listed with their route as the reference writes it', async () => {
    const { body } = await read({});
    const recent = { lastRefusedAt: expect.any(String) as string };
    const keyed = {
      status: 422,
      code: 'invalid_recipient',
      detail: 'A sentence.',
      fields: ['to'],
      count: 30,
      defence: null,
    };
    const mine = {
      status: 429,
      code: 'rate_limited',
      detail: 'A limit.',
      fields: [],
      count: 1,
      defence: null,
    };
    expect(body.reasons).toEqual([
      { ...recent, ...keyed },
      { ...recent, ...mine },
    ]);
    const facts = {
      at: expect.any(String) as string,
      keyHint: expect.stringMatching(/^ak_live_/) as string,
      application: { id: ours.applicationId, name: 'Test live' },
    };
    expect(body.requests).toEqual([
      { ...facts, ...keyed, requestId: ids.keyed, route: 'POST /v1/send' },
      { ...facts, ...mine, requestId: ids.mine, route: 'POST /v1/send/{id}/verify' },
    ]);
    expect(body.next).toBeNull();
  });

  it('are found by request id or by idempotency key, in their account only', async () => {
    expect(await found('order-7')).toEqual([ids.keyed]);
    expect(await found(ids.mine)).toEqual([ids.mine]);
    expect(await found(ids.mine.toUpperCase())).toEqual([ids.mine]);
    expect(await found(ids.theirs)).toEqual([]);
    expect(await found('order-8')).toEqual([]);
  });

  it('are found by a key in the bytes of UTF-8 or of latin1, and by one that has the form of an id', async () => {
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
  });

  it('are looked for by a key that gets into no log line, table, audit entry or answer', async () => {
    const key = `order of +55 11 98765-4321 ${randomUUID()}`;
    const loud = await startLoudConsole(server, SESSION_SECRET);
    const search = ({ cookie, csrfToken }: TestPerson, path: string, body: object) =>
      callConsole({ ...server, url: loud.url }, 'POST', path, {
        body,
        headers: { cookie, 'x-csrf-token': csrfToken, origin: server.url },
      });
    const path = address.replace('ACCOUNT', ours.accountId);
    const answers = [
      await search(member, path, { text: key }),
      await search(member, path, { text: key, before: 'no id' }),
      await search(member, path, { text: key.repeat(9) }),
      await search(onCall, `/staff${path}`, { text: key }),
      await search(onCall, path, { text: key }),
    ];
    await loud.started.stop();
    expect(answers.map(({ status }) => status)).toEqual([200, 422, 422, 200, 404]);
    const kept = [
      ...(await tableContents(server.db)).values(),
      JSON.stringify(answers.map(({ body }) => body)),
    ];
    for (const text of [loud.started.output(), ...kept]) expect(text).not.toContain(key.slice(-36));
    expect(loud.started.output()).toContain('/refused-requests/search');
  });

  it('come by pages and by what was said', async () => {
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

  it('are not listed for what is no filter', async () => {
    const queries = [{ hours: 0 }, { hours: 337 }, { code: 'A' }, { before: 'x' }, { key: 'order-7' }];
    for (const query of [...queries, { text: '' }, { text: 'x'.repeat(256) }, { text: 7 }])
      expect((await read(query)).status).toBe(422);
  });

  it('of any account are there for the staff', async () => {
    expect((await read({}, onCall, theirs)).body.requests).toMatchObject([{ requestId: ids.theirs }]);
    expect(await found('order-7', onCall, theirs)).toEqual([ids.theirs]);
    expect((await read({}, onCall, { ...theirs, accountId: newId() })).status).toBe(404);
  });
});

it('a send tells the id of the request that created it', async () => {
  const requestId = randomUUID();
  const id = await buildSend(server.db.database, ours, { requestId });
  expect((await member.get(`/accounts/${ours.accountId}/sends/${id}`)).body).toMatchObject({ requestId });
  expect((await onCall.get(`/staff/sends/${id}`)).body).toMatchObject({ requestId });
});
