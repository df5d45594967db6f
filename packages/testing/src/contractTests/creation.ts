import { gzipSync } from 'node:zlib';
import type { Mode } from '@onecode/domain';
import type { RawAnswer } from '../rawConnection.js';
import { bearer, contractTest, PHONE, type ContractCaller, type ContractTarget } from './target.js';

/** Tests `POST /v1/send`: accepted requests and their effects. */
export function testCreation(open: () => ContractTarget): void {
  const api = contractTest(open);
  let test: ContractCaller;
  let live: ContractCaller;
  beforeAll(async () => {
    test = await api.target.buildCaller('test');
    live = await api.target.buildCaller('live', { freeQuota: 100 });
  });
  const callers = (): Record<Mode, ContractCaller> => ({ test, live });
  /** Posts exactly these bytes, with only the given headers and the key. */
  const post = (body: string | Buffer, ...headers: [string, string][]): Promise<RawAnswer> =>
    api.raw('POST', '/v1/send', [...Object.entries(bearer(test)), ...headers], body);

  describe('a new send', () => {
    it.each<Mode>(['test', 'live'])(
      'is returned with all 14 fields in %s mode: queued, pending, the rest null',
      async (mode) => {
        const before = await api.target.now();
        const { status, type, headers, body } = await api.create(callers()[mode]);
        const after = await api.target.now();
        expect([status, type, headers['cache-control']]).toEqual([202, 'application/json', 'no-store']);
        expect(body).toEqual({
          id: expect.any(String),
          status: 'queued',
          verification: 'pending',
          mode,
          channel: null,
          from: null,
          expires_at: expect.any(String),
          created_at: expect.any(String),
          sent_at: null,
          delivered_at: null,
          read_at: null,
          verified_at: null,
          failed_at: null,
          failure_reason: null,
        });
        const createdAt = Date.parse(body.created_at);
        expect(createdAt).toBeGreaterThanOrEqual(before.getTime() - 1);
        expect(createdAt).toBeLessThanOrEqual(after.getTime() + 1);
        expect(Date.parse(body.expires_at) - createdAt).toBe(600_000);
      },
    );

    it('has the same fields and values in its status', async () => {
      const { body } = await api.create(live);
      expect((await api.status(live, body.id)).body).toEqual(body);
    });

    it('takes a unit of the free quota first, then a credit, and nothing in test mode', async () => {
      const payer = await api.target.buildCaller('live', { freeQuota: 1, credits: 1 });
      const sandbox = await api.target.buildCaller('test', { sibling: payer });
      const left = (): Promise<unknown> => api.target.unitsOf(payer);
      expect((await api.create(sandbox)).status).toBe(202);
      expect(await left()).toMatchObject({ freeQuota: 1, credits: 1 });
      expect((await api.create(payer)).status).toBe(202);
      expect(await left()).toMatchObject({ freeQuota: 0, credits: 1 });
      expect((await api.create(payer)).status).toBe(202);
      expect(await left()).toMatchObject({ freeQuota: 0, credits: 0 });
      const { status, body } = await api.create(payer);
      expect([status, body.code]).toEqual([402, 'insufficient_credits']);
      expect((await api.create(sandbox)).status).toBe(202);
    });

    it('refunds its unit to its source when the delivery fails', async () => {
      const payer = await api.target.buildCaller('live', { freeQuota: 1, credits: 1 });
      const ids: string[] = [];
      for (const to of ['+5511987650001', '+5511987650002'])
        ids.push((await api.create(payer, { to }).expect(202)).body.id);
      expect(await api.target.unitsOf(payer)).toMatchObject({ freeQuota: 0, credits: 0 });
      await api.target.deliver(ids[1] as string, 'failed');
      await api.status(payer, ids[1] as string).expect(200);
      expect(await api.target.unitsOf(payer)).toMatchObject({ freeQuota: 0, credits: 1 });
    });
  });

  describe('the code', () => {
    it.each(['0042', '000000', '004217', '0123456789'])(
      'keeps its leading zeros in both modes: %s',
      async (code) => {
        for (const caller of [test, live]) {
          const { id } = (await api.create(caller, { to: PHONE, code })).body;
          if (caller.mode === 'live') expect(await api.target.codeOf(id)).toBe(code);
          expect((await api.verify(caller, id, code.replace(/^0+/, ''))).body.valid).toBe(false);
          expect((await api.verify(caller, id, code)).body.valid).toBe(true);
        }
      },
    );

    it.each([
      ['left out', { to: PHONE }],
      ['empty', { to: PHONE, code: '' }],
    ])('is six random digits in live mode if it is %s', async (_name, body) => {
      const codes: string[] = [];
      for (let n = 0; n < 3; n++) {
        const { id } = (await api.create(live, body)).body;
        const code = await api.target.codeOf(id);
        codes.push(code);
        expect(code).toMatch(/^[0-9]{6}$/);
        expect((await api.verify(live, id, code)).body.valid).toBe(true);
      }
      expect(new Set(codes).size).toBeGreaterThan(1);
    });

    it('is never in a response', async () => {
      const code = '7391846205';
      const headers = { 'Idempotency-Key': 'a code in no answer' };
      const created = await api.create(live, { to: PHONE, code }, headers);
      const { id } = created.body;
      const answers = [
        created,
        await api.create(live, { to: PHONE, code }, headers),
        await api.create(live, { to: PHONE, code, locale: 'en' }, headers),
        await api.create(live, { to: 'x', code }),
        await api.status(live, id),
        await api.verify(live, id, '0'),
        await api.verify(live, id, code),
        await api.status(live, id),
      ];
      expect(answers.map(({ status }) => status)).toEqual([202, 202, 409, 422, 200, 200, 200, 200]);
      for (const answer of answers) expect(JSON.stringify([answer.headers, answer.text])).not.toContain(code);
    });
  });

  describe('the recipient', () => {
    it.each([
      ['+5511987654321', '+5511987654321'],
      ['+55 (11) 98765-4321', '+5511987654321'],
      [' +5511987654321 ', '+5511987654321'],
      ['+1 (202) 555-0143', '+12025550143'],
    ])('is normalized from %s to %s', async (to, expected) => {
      const { status, body } = await api.create(test, { to });
      expect(status).toBe(202);
      expect(await api.target.recipientOf(body.id)).toBe(expected);
    });
  });

  describe('a JSON body', () => {
    const BODY = JSON.stringify({ to: PHONE });

    it('is accepted without a content type', async () => {
      expect((await post(BODY)).status).toBe(202);
    });

    it.each([
      'application/json; charset=utf-16',
      'text/plain',
      'application/x-www-form-urlencoded',
      'nonsense',
      '',
    ])('is accepted with the content type "%s"', async (type) => {
      expect((await post(BODY, ['Content-Type', type])).status).toBe(202);
    });

    it.each(['identity', '', 'none', 'gzip'])(
      'is accepted with the content coding "%s" if it is not compressed',
      async (coding) => {
        expect((await post(BODY, ['Content-Encoding', coding])).status).toBe(202);
      },
    );

    it.each([
      ['labeled', [['Content-Encoding', 'gzip']]],
      ['not labeled', []],
    ] as [string, [string, string][]][])(
      'is refused if it is compressed with gzip, %s',
      async (_name, headers) => {
        const { status, json } = await post(gzipSync(BODY), ['Content-Type', 'application/json'], ...headers);
        expect([status, json.code]).toEqual([422, 'invalid_json']);
      },
    );

    it.each(['Content-Length', 'Transfer-Encoding'])(
      'is accepted up to 64 KiB, counted by %s',
      async (framing) => {
        const send = (bytes: number): Promise<RawAnswer> => {
          const body = BODY + ' '.repeat(bytes - BODY.length);
          return framing === 'Content-Length'
            ? post(body)
            : post(`${bytes.toString(16)}\r\n${body}\r\n0\r\n\r\n`, [framing, 'chunked']);
        };
        expect((await send(65_536)).status).toBe(202);
        const { status, json } = await send(65_537);
        expect([status, json.code]).toEqual([422, 'invalid_json']);
      },
    );
  });

  describe('a request with several faults', () => {
    const LONG_KEY: [string, string] = ['Idempotency-Key', 'k'.repeat(256)];
    const send = (headers: readonly (readonly [string, string])[], body: string): Promise<RawAnswer> =>
      api.raw('POST', '/v1/send', headers, body);

    it('is refused for the first of credential, idempotency key, body, fields, reused key, limits and units', async () => {
      const caller = await api.target.buildCaller('live', { freeQuota: 1, credits: 0, ratePerMinute: 1 });
      const key = Object.entries(bearer(caller));
      const once: [string, string] = ['Idempotency-Key', 'once'];
      const good = JSON.stringify({ to: PHONE });
      expect((await send([...key, once], good)).status).toBe(202);
      const codes = [
        await send([LONG_KEY], '{'),
        await send([...key, LONG_KEY], '{'),
        await send([...key, once], '{'),
        await send([...key, once], '{"to":"x"}'.padEnd(65_537)),
        await send([...key, once], '{"to":"x"}'),
        await send([...key, once], `${good} `),
        await send(key, good),
      ].map(({ json }) => json.code);
      await api.target.age(caller, 61);
      codes.push((await send(key, good)).json.code);
      expect((await send([...key, once], good)).status).toBe(202);
      expect(codes).toEqual([
        'missing_credentials',
        'invalid_idempotency_key',
        'invalid_json',
        'invalid_json',
        'invalid_recipient',
        'idempotency_key_reused',
        'rate_limited',
        'insufficient_credits',
      ]);
    });
  });
}
