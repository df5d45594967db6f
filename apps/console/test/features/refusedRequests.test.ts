import { createHash, randomUUID } from 'node:crypto';
import { newId } from '@onecode/store';
import { buildCaller, buildSend, refuseRequests, type TestCaller } from '@onecode/testing';
import type {
  RefusedCodesView,
  RefusedRequestsView,
  StaffRefusedCodesView,
} from '../../src/features/refusedRequests/view.js';
import { useConsole } from '../console.js';
import { person, type TestPerson } from '../people.js';

const server = useConsole();
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
const found = async (query: string): Promise<string[]> => {
  const { status, body } = await member.get<RefusedRequestsView>(address(`?${query}`));
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

  it('are found by request id or by the hash of an idempotency key, in their account only', async () => {
    const keyHashes = hash.toString('hex');
    const nothing = createHash('sha256').update('nothing').digest('hex');
    expect(await found(`keyHashes=${keyHashes}`)).toEqual([ids.keyed]);
    expect(await found(`keyHashes=${nothing},${keyHashes}`)).toEqual([ids.keyed]);
    expect(await found(`keyHashes=${nothing}&request=${ids.mine}`)).toEqual([ids.mine]);
    expect(await found(`keyHashes=${nothing}&request=${ids.theirs}`)).toEqual([]);
  });

  it('come by pages', async () => {
    const first = await member.get<RefusedRequestsView>(address('?limit=6'));
    const second = await member.get<RefusedRequestsView>(address(`?limit=6&before=${first.body.next}`));
    const all = [...first.body.requests, ...second.body.requests].map(({ requestId }) => requestId);
    expect(new Set(all).size).toBe(11);
    expect(second.body.next).toBeNull();
  });

  it('are not listed for what is no filter', async () => {
    for (const query of ['hours=0', 'hours=337', 'code=A', 'keyHashes=x', 'before=x', 'key=order-7'])
      expect((await member.get(address(`?${query}`))).status).toBe(422);
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
