import { gzipSync } from 'node:zlib';
import { unseal, type Mode } from '@onecode/domain';
import { findAccount } from '@onecode/store';
import { buildCaller, TEST_SECRET_KEY, until, type RawAnswer, type TestCaller } from '@onecode/testing';
import { rawRequest } from '@onecode/testing/contract';
import { bearer, PHONE, startApi, type TestApi } from './testApi.js';

let api: TestApi;
let test: TestCaller;
let live: TestCaller;

beforeAll(async () => {
  api = await startApi();
  test = await buildCaller(api.db.database, 'test');
  live = await buildCaller(api.db.database, 'live', { freeQuota: 100 });
});
afterAll(() => api.close());

const callers = (): Record<Mode, TestCaller> => ({ test, live });

interface StoredSend {
  recipient: string;
  locale: string;
  sealed_code: Buffer | null;
}

async function stored(id: string): Promise<StoredSend> {
  const [row] = await api.db.sql<StoredSend>('select * from sends where id = $1', [id]);
  if (row === undefined) throw new Error(`no send ${id}`);
  return row;
}

/** What the worker would send. */
async function sealedCode(id: string): Promise<string> {
  return unseal(TEST_SECRET_KEY, id, (await stored(id)).sealed_code as Buffer);
}

/** Sends a body in exactly these bytes, with no header but the given ones and the key. */
function post(body: string | Buffer, ...headers: [string, string][]): Promise<RawAnswer> {
  return rawRequest(api.port, 'POST', '/v1/send', [...Object.entries(bearer(test)), ...headers], body);
}

describe('a send that was accepted', () => {
  it.each<Mode>(['test', 'live'])(
    'is answered with all 14 fields in %s mode: queued, pending, the rest null',
    async (mode) => {
      const [before] = await api.db.sql<{ now: Date }>('select clock_timestamp() as now');
      const { status, type, headers, body } = await api.create(callers()[mode]);
      const [after] = await api.db.sql<{ now: Date }>('select clock_timestamp() as now');
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
      expect(createdAt).toBeGreaterThanOrEqual((before?.now.getTime() ?? 0) - 1);
      expect(createdAt).toBeLessThanOrEqual((after?.now.getTime() ?? 0) + 1);
      expect(Date.parse(body.expires_at) - createdAt).toBe(600_000);
    },
  );

  it('has the same shape and values in its status', async () => {
    const { body } = await api.create(live);
    expect((await api.status(live, body.id)).body).toEqual(body);
  });

  it('has a new id each time', async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, async () => (await api.create(test)).body.id));
    expect(new Set(ids).size).toBe(10);
  });

  it('takes a unit of the free quota first, then a credit, and nothing in test mode', async () => {
    const payer = await buildCaller(api.db.database, 'live', { freeQuota: 1, credits: 1 });
    const sandbox = await buildCaller(api.db.database, 'test', { id: payer.accountId });
    const left = async (): Promise<unknown> => findAccount(api.db.database, payer.accountId);
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
});

describe('the code', () => {
  it.each(['0042', '000000', '004217', '0123456789'])(
    '%s of one’s own is kept with its leading zeros in both modes',
    async (code) => {
      for (const caller of [test, live]) {
        const { id } = (await api.create(caller, { to: PHONE, code })).body;
        if (caller.mode === 'live') expect(await sealedCode(id)).toBe(code);
        expect((await api.verify(caller, id, code.replace(/^0+/, ''))).body.valid).toBe(false);
        expect((await api.verify(caller, id, code)).body.valid).toBe(true);
      }
    },
  );

  it.each([
    ['left out', { to: PHONE }],
    ['empty', { to: PHONE, code: '' }],
  ])('is 000000 in test mode when %s', async (_name, body) => {
    const { id } = (await api.create(test, body)).body;
    expect((await api.verify(test, id, '000000')).body.valid).toBe(true);
  });

  it.each([
    ['left out', { to: PHONE }],
    ['empty', { to: PHONE, code: '' }],
  ])('is six random digits in live mode when %s', async (_name, body) => {
    const codes: string[] = [];
    for (let round = 0; round < 3; round++) {
      const { id } = (await api.create(live, body)).body;
      const code = await sealedCode(id);
      codes.push(code);
      expect(code).toMatch(/^[0-9]{6}$/);
      expect((await api.verify(live, id, code)).body.valid).toBe(true);
    }
    expect(new Set(codes).size).toBeGreaterThan(1);
  });

  it('is in no answer, in no field of the database and nowhere in Redis, nor are the number and the key', async () => {
    const code = '7391846205';
    const to = '+5511912345678';
    const headers = { 'Idempotency-Key': 'code-in-no-answer' };
    const created = await api.create(live, { to, code }, headers);
    const { id } = created.body;
    const answers = [
      created,
      await api.create(live, { to, code }, headers),
      await api.create(live, { to, code, locale: 'en' }, headers),
      await api.create(live, { to: 'x', code }),
      await api.status(live, id),
      await api.verify(live, id, '0'),
      await api.verify(live, id, code),
      await api.status(live, id),
    ];
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 409, 422, 200, 200, 200, 200]);
    for (const answer of answers) expect(JSON.stringify([answer.headers, answer.text])).not.toContain(code);
    const [row] = await api.db.sql('select to_jsonb(s) as all from sends s where id = $1', [id]);
    expect(JSON.stringify(row)).not.toContain(code);
    expect(JSON.stringify(row)).not.toContain(Buffer.from(code).toString('hex'));

    const jobs = await redisTexts(id);
    expect(jobs).toContain(`{"sendId":"${id}"}`);
    for (const secret of [code, to.slice(1), live.key, 'code-in-no-answer'])
      expect(jobs).not.toContain(secret);
  });

  /** Everything in Redis about the jobs, once there is one for this send. */
  async function redisTexts(id: string): Promise<string> {
    return until('a job for the send', async () => {
      const keys = await api.redis.keys(`${api.prefix}:deliver:*`);
      const types = await Promise.all(keys.map((key) => api.redis.type(key)));
      const hashes = await Promise.all(
        keys.filter((_, index) => types[index] === 'hash').map((key) => api.redis.hgetall(key)),
      );
      const texts = [...keys, ...hashes.flatMap((hash) => Object.entries(hash).flat())].join('\n');
      return texts.includes(id) && texts;
    });
  }
});

describe('the language', () => {
  it.each(['pt-BR', 'en'] as const)('is the account’s when it is left out: %s', async (language) => {
    const caller = await buildCaller(api.db.database, 'test', { language });
    expect((await stored((await api.create(caller)).body.id)).locale).toBe(language);
    for (const locale of ['pt-BR', 'en'])
      expect((await stored((await api.create(caller, { to: PHONE, locale })).body.id)).locale).toBe(locale);
  });
});

describe('the recipient', () => {
  it.each([
    ['+5511987654321', '+5511987654321'],
    ['+55 (11) 98765-4321', '+5511987654321'],
    ['+55-11-98765-4321', '+5511987654321'],
    [' +5511987654321 ', '+5511987654321'],
    ['+44 7700 900123', '+447700900123'],
    ['+1 (202) 555-0143', '+12025550143'],
  ])('%s is taken as %s', async (to, expected) => {
    const { status, body } = await api.create(test, { to });
    expect(status).toBe(202);
    expect((await stored(body.id)).recipient).toBe(expected);
  });
});

describe('a body is judged by its bytes', () => {
  const BODY = JSON.stringify({ to: PHONE });

  it('without a content type', async () => {
    expect((await post(BODY)).status).toBe(202);
  });

  it.each([
    'application/json; charset=utf-8',
    'application/json; charset=utf-16',
    'application/problem+json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/octet-stream',
    'nonsense',
    '',
  ])('with the content type "%s"', async (type) => {
    expect((await post(BODY, ['Content-Type', type])).status).toBe(202);
  });

  it.each([
    ['labelled', [['Content-Encoding', 'gzip']]],
    ['not labelled', []],
  ] as [string, [string, string][]][])('so one in gzip, %s, is no JSON', async (_name, headers) => {
    const { status, json } = await post(gzipSync(BODY), ['Content-Type', 'application/json'], ...headers);
    expect([status, json.code]).toEqual([422, 'invalid_json']);
  });

  it.each(['Content-Length', 'Transfer-Encoding'])(
    'and may have 64 KiB, counted by %s, and not a byte more',
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
