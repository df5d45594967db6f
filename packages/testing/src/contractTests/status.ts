import { randomUUID } from 'node:crypto';
import type { RawAnswer } from '../rawConnection.js';
import {
  bearer,
  contractTest,
  type ContractCaller,
  type ContractTarget,
  type DeliveryStatus,
} from './target.js';

const SET = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const NOTHING_YET = {
  channel: null,
  from: null,
  sent_at: null,
  delivered_at: null,
  read_at: null,
  verified_at: null,
  failed_at: null,
  failure_reason: null,
};
const ROUTED = { ...NOTHING_YET, channel: 'whatsapp', from: expect.stringMatching(/^\+\d+$/) };

/** Tests `GET /v1/send/{id}/status`, and which accounts can read which sends. */
export function testStatus(open: () => ContractTarget): void {
  const api = contractTest(open);
  let caller: ContractCaller;
  let stranger: ContractCaller;
  beforeAll(async () => {
    caller = await api.target.buildCaller('live', { freeQuota: 100 });
    stranger = await api.target.buildCaller('live');
  });

  let created = 0;
  async function create(by = caller): Promise<string> {
    // A recipient can have only a few active codes at a time.
    return (await api.create(by, { to: `+55119${80_000_000 + (created += 1)}`, code: '004217' }).expect(202))
      .body.id;
  }

  describe('the status of a send', () => {
    it.each<[DeliveryStatus, object]>([
      ['queued', NOTHING_YET],
      ['sending', ROUTED],
      ['sent', { ...ROUTED, sent_at: SET }],
      ['delivered', { ...ROUTED, sent_at: SET, delivered_at: SET }],
      ['read', { ...ROUTED, sent_at: SET, delivered_at: SET, read_at: SET }],
      ['failed', { ...ROUTED, failed_at: SET, failure_reason: 'rejected_by_provider' }],
    ])('contains all 14 fields while delivery is %s', async (stage, fields) => {
      const id = await create();
      await api.target.deliver(id, stage);
      const { status, type, headers, body } = await api.status(caller, id);
      expect([status, type, headers['cache-control']]).toEqual([200, 'application/json', 'no-store']);
      const always = {
        id,
        status: stage,
        verification: 'pending',
        mode: 'live',
        created_at: SET,
        expires_at: SET,
      };
      expect(body).toEqual({ ...always, ...fields });
    });

    it('is `read` for a sandbox send, with three times and no sender', async () => {
      const sandbox = await api.target.buildCaller('test');
      const id = await create(sandbox);
      await api.target.simulateDelivery(id);
      expect((await api.status(sandbox, id)).body).toMatchObject({
        ...NOTHING_YET,
        status: 'read',
        mode: 'test',
        verification: 'pending',
        channel: 'sandbox',
        sent_at: SET,
        delivered_at: SET,
        read_at: SET,
      });
    });

    it.each<DeliveryStatus>(['sent', 'delivered', 'read', 'failed'])(
      'has the verification `expired` after the deadline, while delivery stays %s',
      async (stage) => {
        const id = await create();
        await api.target.deliver(id, stage);
        expect((await api.status(caller, id)).body).toMatchObject({ status: stage, verification: 'pending' });
        await api.target.expire(id);
        expect((await api.status(caller, id)).body).toMatchObject({ status: stage, verification: 'expired' });
      },
    );

    it('is visible to every application of the account, in any mode', async () => {
      const id = await create();
      const sibling = await api.target.buildCaller('test', { sibling: caller });
      expect((await api.status(sibling, id)).body).toEqual((await api.status(caller, id)).body);
    });
  });

  const OPERATIONS = [
    { name: 'status', method: 'GET', body: '' },
    { name: 'verify', method: 'POST', body: '{"code":"004217"}' },
  ];

  describe.each(OPERATIONS)('the id in $name', ({ name, method, body }) => {
    const askFor = (id: string, headers: Record<string, string>): Promise<RawAnswer> =>
      api.raw(method, `/v1/send/${id}/${name}`, Object.entries(headers), body);

    /** Returns a response without the parts that differ in each request. */
    function comparable({ status, headers, body }: RawAnswer): unknown {
      const { date: _date, 'x-request-id': _requestId, ...rest } = headers;
      return { status, headers: Object.entries(rest), body };
    }

    it('leads to the same response, byte for byte, for an unknown send and another account’s send in any state', async () => {
      const unknown = comparable(await askFor(randomUUID(), bearer(stranger)));
      expect(unknown).toMatchObject({
        status: 404,
        body: expect.stringContaining('"code":"send_not_found"'),
      });
      for (const stage of ['queued', 'sent', 'read', 'failed'] as const) {
        const id = await create();
        await api.target.deliver(id, stage);
        expect(comparable(await askFor(id, bearer(stranger)))).toEqual(unknown);
        await api.target.expire(id);
        expect(comparable(await askFor(id, bearer(stranger)))).toEqual(unknown);
      }
      const verified = await create();
      await api.verify(caller, verified, '004217').expect(200);
      expect(comparable(await askFor(verified, bearer(stranger)))).toEqual(unknown);
    });

    it.each([
      ['a word', 'x'],
      ['a NUL', '%00'],
      ['a NUL after an id', '0199c7a2-5b1e-7c3a-9f40-2d6a8e1b4c57%00'],
      ['a byte that is no UTF-8', '%ff'],
      ['a percent that is no number', '%zz'],
      ['an overlong slash', '%c0%af'],
      ['an id without hyphens', '0199c7a25b1e7c3a9f402d6a8e1b4c57'],
      ['an id with spaces around it', '%200199c7a2-5b1e-7c3a-9f40-2d6a8e1b4c57%20'],
      ['an id and a line break', '0199c7a2-5b1e-7c3a-9f40-2d6a8e1b4c57%0a'],
      ['7,000 characters', 'a'.repeat(7_000)],
      ['one folder up, encoded', '%2e%2e'],
      ['slashes, encoded', '..%2f..%2fsend%2fx'],
      ['SQL', "'%20or%201=1--"],
      ['letters of another alphabet', '%D0%B8%D0%B4'],
    ])('leads to send_not_found if it is malformed, but only after authentication: %s', async (_name, id) => {
      expect((await askFor(id, bearer(caller))).json).toMatchObject({
        status: 404,
        code: 'send_not_found',
      });
      expect((await askFor(id, {})).json).toMatchObject({ status: 401, code: 'missing_credentials' });
      const wrong = await askFor(id, { Authorization: 'Bearer ak_live_wrong' });
      expect(wrong.json).toMatchObject({ status: 401, code: 'invalid_api_key' });
    });

    it('leads to send_not_found in upper case', async () => {
      const id = await create();
      expect((await askFor(id.toUpperCase(), bearer(caller))).json).toMatchObject({ code: 'send_not_found' });
      expect((await askFor(id, bearer(caller))).status).toBe(200);
    });

    it('is read without the query after it', async () => {
      const id = await create();
      const path = `/v1/send/${id}/${name}?id=x&account=y`;
      expect((await api.raw(method, path, Object.entries(bearer(caller)), body)).status).toBe(200);
    });
  });
}
