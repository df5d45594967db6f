import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { newId } from '@onecode/store';
import { buildCaller, buildSend, refuseRequests, tableContents, type TestCaller } from '@onecode/testing';
import type {
  RefusedCodesView,
  RefusedRequestsView,
  StaffRefusedCodesView,
} from '../../src/features/refusedRequests/view.js';
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
    { requestId: ids.mine, status: 429, detail: 'A limit of a minute.', route: 'POST /v1/send/:id/verify' },
  ]);
  await refuseRequests(database, ours, 'invalid_recipient', [
    // The oldest: of a flood, the first requests of a minute are kept.
    { requestId: ids.keyed, fields: ['to'], idempotencyKeyHash: hash, ageMs: 1 },
    ...Array.from({ length: 29 }, () => ({})),
  ]);
  await refuseRequests(database, theirs, 'a_code_of_a_later_release', [
    { requestId: ids.theirs, idempotencyKeyHash: hash },
  ]);
});

const address = (rest: string): string => `/accounts/${ours.accountId}/refused-requests${rest}`;
const found = async (text: string, who = member, path = address('/search')): Promise<string[]> => {
  const { status, body } = await who.post<RefusedRequestsView>(path, { text });
  expect(status).toBe(200);
  return body.requests.map(({ requestId }) => requestId);
};

describe('refused requests in the console', () => {
  it('are summed up by code, with all that were refused and those that are listed', async () => {
    const { body } = await member.get<RefusedCodesView>(address('/codes'));
    const recent = { lastRefusedAt: expect.any(String) as string };
    expect(body.codes).toHaveLength(2);
    expect(body.codes).toEqual(
      expect.arrayContaining([
        { ...recent, code: 'invalid_recipient', status: 422, count: 30, kept: 10 },
        { ...recent, code: 'rate_limited', status: 429, count: 1, kept: 1 },
      ]),
    );
    expect(body.applications).toEqual([{ id: ours.applicationId, name: 'Test live' }]);
  });

  it('are listed by code, with their route as the reference writes it', async () => {
    const { body } = await member.get<RefusedRequestsView>(address('?code=rate_limited'));
    expect(body).toEqual({
      requests: [
        {
          requestId: ids.mine,
          at: expect.any(String) as string,
          route: 'POST /v1/send/{id}/verify',
          status: 429,
          code: 'rate_limited',
          detail: 'A limit of a minute.',
          fields: [],
          keyHint: expect.stringMatching(/^ak_live_/) as string,
          application: { id: ours.applicationId, name: 'Test live' },
        },
      ],
      next: null,
    });
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
    const path = `/staff/accounts/${caller.accountId}/refused-requests/search`;
    expect(await found('ação', onCall, path)).toEqual([utf8, latin1]);
    expect(await found('注文', onCall, path)).toEqual([wide]);
    expect(await found(sent[3][0], onCall, path)).toEqual([uuid]);
  });

  it('are looked for by a key that gets into no log line, table, audit entry or answer', async () => {
    const key = `order of +55 11 98765-4321 ${randomUUID()}`;
    const loud = await startLoudConsole(server, SESSION_SECRET);
    const search = ({ cookie, csrfToken }: TestPerson, path: string, body: object) =>
      callConsole({ ...server, url: loud.url }, 'POST', path, {
        body,
        headers: { cookie, 'x-csrf-token': csrfToken, origin: server.url },
      });
    const answers = [
      await search(member, address('/search'), { text: key }),
      await search(member, address('/search'), { text: key, before: 'no id' }),
      await search(member, address('/search'), { text: key.repeat(9) }),
      await search(onCall, `/staff${address('/search')}`, { text: key }),
      await search(onCall, address('/search'), { text: key }),
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

  it('come by pages', async () => {
    const first = await member.get<RefusedRequestsView>(address('?limit=6'));
    const second = await member.get<RefusedRequestsView>(address(`?limit=6&before=${first.body.next}`));
    const all = [...first.body.requests, ...second.body.requests].map(({ requestId }) => requestId);
    expect(new Set(all).size).toBe(11);
    expect(second.body.next).toBeNull();
  });

  it('are not listed for what is no filter', async () => {
    for (const query of ['hours=0', 'hours=337', 'code=A', 'before=x', 'key=order-7'])
      expect((await member.get(address(`?${query}`))).status).toBe(422);
    for (const text of ['', 'x'.repeat(256), 7, undefined])
      expect((await member.post(address('/search'), { text })).status).toBe(422);
  });

  it('of any account are there for the staff, with codes that this release does not know', async () => {
    const path = `/staff/accounts/${theirs.accountId}/refused-requests`;
    const { body } = await onCall.get<StaffRefusedCodesView>(`${path}/codes`);
    expect(body).toMatchObject({
      account: { id: theirs.accountId },
      codes: [{ code: 'a_code_of_a_later_release', status: null, count: 1 }],
    });
    expect((await onCall.get<RefusedRequestsView>(path)).body.requests).toMatchObject([
      { requestId: ids.theirs },
    ]);
    expect(await onCall.post(`${path}/search`, { text: 'order-7' })).toMatchObject({
      body: { requests: [{ requestId: ids.theirs }] },
    });
    expect(
      (await onCall.post(`/staff/accounts/${newId()}/refused-requests/search`, { text: 'x' })).status,
    ).toBe(404);
    for (const rest of ['', '/codes'])
      expect((await onCall.get(`/staff/accounts/${newId()}/refused-requests${rest}`)).status).toBe(404);
  });
});

it('a send tells the id of the request that created it', async () => {
  const requestId = randomUUID();
  const id = await buildSend(server.db.database, ours, { requestId });
  expect((await member.get(`/accounts/${ours.accountId}/sends/${id}`)).body).toMatchObject({ requestId });
  expect((await onCall.get(`/staff/sends/${id}`)).body).toMatchObject({ requestId });
});
