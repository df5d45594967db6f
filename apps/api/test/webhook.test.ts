import { createHmac, randomUUID } from 'node:crypto';
import {
  buildSender,
  RawConnection,
  redisContents,
  requestBytes,
  until,
  type RawAnswer,
} from '@onecode/testing';
import { rawRequest } from '@onecode/testing/contract';
import { messageIdOf } from '@onecode/whatsapp';
import { readApiConfig } from '../src/config.js';
import { apiVariables, APP_SECRET, useApi, VERIFY_TOKEN } from './testApi.js';

const api = useApi();

const PATH = '/webhooks/whatsapp';
const MEBIBYTE = 2 ** 20;

const sign = (body: string | Buffer, secret = APP_SECRET): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

function post(body: string | Buffer, ...signatures: string[]): Promise<RawAnswer> {
  const headers = signatures.map((signature) => ['X-Hub-Signature-256', signature] as const);
  return rawRequest(api.port, 'POST', PATH, headers, body);
}
const postSigned = (body: string | Buffer): Promise<RawAnswer> => post(body, sign(body));

const newMessageId = (): string => `wamid.${randomUUID()}`;
const status = (id: string, more: object = {}): object => ({
  id,
  status: 'delivered',
  timestamp: '1767225600',
  recipient_id: '5511987654321',
  ...more,
});
const webhook = (value: object): object => ({
  object: 'whatsapp_business_account',
  entry: [{ id: '1', changes: [{ field: 'messages', value: { messaging_product: 'whatsapp', ...value } }] }],
});
const textOf = (...statuses: object[]): string => JSON.stringify(webhook({ statuses }));

const stored = (messageId: string): Promise<Record<string, unknown>[]> =>
  api.db.sql(
    `select kind, reporter, report from provider_reports where report ->> 'messageId' = $1 order by key`,
    [messageIdOf(messageId)],
  );
async function storedCount(): Promise<number> {
  const [row] = await api.db.sql<{ count: number }>(
    'select count(*)::integer as count from provider_reports',
  );
  return row?.count ?? -1;
}

describe('the handshake', () => {
  const RIGHT = [
    ['hub.mode', 'subscribe'],
    ['hub.verify_token', VERIFY_TOKEN],
    ['hub.challenge', '1158201444'],
  ] as const;
  const shake = (parameters: readonly (readonly [string, string])[]): Promise<RawAnswer> =>
    rawRequest(
      api.port,
      'GET',
      `${PATH}?${new URLSearchParams(parameters as [string, string][]).toString()}`,
    );
  const changed = (name: string, value: string) =>
    RIGHT.map(([key, old]) => [key, key === name ? value : old] as const);

  it('is answered with the challenge as plain text', async () => {
    const answer = await shake(RIGHT);
    expect(answer).toMatchObject({ status: 200, body: '1158201444' });
    expect(answer.headers['content-type']).toMatch(/^text\/plain/);
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
  });

  it('returns the challenge unchanged', async () => {
    const challenge = '<script>é & "x"\n';
    expect((await shake(changed('hub.challenge', challenge))).body).toBe(challenge);
  });

  // `packages/whatsapp` tests the parameters in detail; this tests that they are read from the address.
  it.each([
    ['another token', changed('hub.verify_token', `${VERIFY_TOKEN}x`)],
    ['no parameters', []],
    ['two tokens, the first right', [...RIGHT, ['hub.verify_token', 'x']]],
    ['two tokens, the last right', [['hub.verify_token', 'x'], ...RIGHT]],
    ['two modes', [...RIGHT, ['hub.mode', 'x']]],
    ['two challenges', [...RIGHT, ['hub.challenge', '2']]],
  ] as [string, (readonly [string, string])[]][])('is forbidden with %s', async (_name, parameters) => {
    const { json, body } = await shake(parameters);
    expect(json).toMatchObject({ status: 403, code: 'forbidden' });
    expect(body).not.toContain(VERIFY_TOKEN);
  });
});

describe('a post with an invalid signature', () => {
  const BODY = textOf(status(newMessageId()));
  const RIGHT = sign(BODY);

  // `packages/whatsapp` tests signatures in detail; this tests that they are checked against the received bytes.
  it.each<[string, string, string[]]>([
    ['missing', BODY, []],
    ['cut off', BODY, [RIGHT.slice(0, -1)]],
    ['under another secret', BODY, [sign(BODY, 'another secret')]],
    ['of a body that differs in one byte', BODY.replace('delivered', 'delivereD'), [RIGHT]],
    ['of the body without its last space', `${BODY} `, [RIGHT]],
    ['of the same JSON with other white space', JSON.stringify(JSON.parse(BODY), null, 1), [RIGHT]],
    ['one of two in one header', BODY, [`${RIGHT}, ${RIGHT}`]],
  ])(
    'is refused with invalid_signature and not stored if the signature is %s',
    async (_name, body, signatures) => {
      const before = await storedCount();
      const { json, headers } = await post(body, ...signatures);
      expect(json).toMatchObject({ status: 401, code: 'invalid_signature' });
      expect(headers['www-authenticate']).toBe('X-Hub-Signature-256');
      expect(await storedCount()).toBe(before);
    },
  );

  it('is refused with bad_request and not stored if the signature is given twice', async () => {
    const before = await storedCount();
    expect((await post(BODY, RIGHT, RIGHT)).json).toMatchObject({ status: 400, code: 'bad_request' });
    expect(await storedCount()).toBe(before);
  });

  it('is refused for its signature before its body is parsed', async () => {
    expect((await post('no json', sign('other'))).json).toMatchObject({ code: 'invalid_signature' });
  });
});

describe('a message from a recipient', () => {
  const PLANTED = 'meu segredo plantado 8d1f';
  const incoming = (message: object): string => {
    const contacts = [{ profile: { name: PLANTED }, wa_id: '5511987654321' }];
    const messages = [{ from: '5511987654321', id: newMessageId(), timestamp: '1767225600', ...message }];
    return JSON.stringify(webhook({ contacts, messages }));
  };
  const deny = (messageId: string): string =>
    incoming({
      context: { id: messageId },
      type: 'button',
      button: { payload: 'DID_NOT_REQUEST_CODE', text: PLANTED },
    });
  it('is stored once, before the response, if it is a denial', async () => {
    const messageId = newMessageId();
    for (let n = 0; n < 3; n += 1) expect((await postSigned(deny(messageId))).status).toBe(200);
    expect(await stored(messageId)).toEqual([
      {
        kind: 'denial',
        reporter: null,
        report: { messageId: messageIdOf(messageId), occurredAt: '2026-01-01T00:00:00.000Z' },
      },
    ]);
  });

  it('is stored neither in the database nor in Redis if it is not a denial', async () => {
    const text = incoming({ type: 'text', text: { body: PLANTED }, context: { id: 'wamid.x' } });
    expect((await postSigned(text)).status).toBe(200);
    expect((await postSigned(deny(newMessageId()))).status).toBe(200);
    const tables = await api.db.sql<{ name: string }>(
      "select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
    );
    expect(tables.length).toBeGreaterThan(20);
    for (const { name } of tables) {
      const found = await api.db.sql(`select t::text from ${name} t where t::text like '%plantado%'`);
      expect([name, found]).toEqual([name, []]);
    }
    expect(await redisContents(api.redis, api.prefix)).not.toContain('plantado');
  });
});

describe('a signed post', () => {
  it('is stored unchanged before it is answered, for the worker to apply', async () => {
    const id = newMessageId();
    const sendId = randomUUID();
    const failed = { status: 'failed', errors: [{ code: 131026, title: 'x' }] };
    const opaque = { biz_opaque_callback_data: `${sendId}.3` };
    expect(await postSigned(textOf(status(id, { ...failed, ...opaque })))).toMatchObject({
      status: 200,
      body: 'ok',
    });
    expect(await stored(id)).toEqual([
      {
        kind: 'receipt',
        reporter: null,
        report: {
          messageId: messageIdOf(id),
          attempt: { sendId, number: 3 },
          status: 'failed',
          occurredAt: '2026-01-01T00:00:00.000Z',
          failure: expect.objectContaining({ kind: 'recipient', errorCode: 131026 }),
        },
      },
    ]);
  });

  it('is stored completely if it has 1,000 statuses', async () => {
    const ids = Array.from({ length: 1_000 }, newMessageId);
    const before = await storedCount();
    expect((await postSigned(textOf(...ids.map((id) => status(id))))).status).toBe(200);
    expect(await storedCount()).toBe(before + 1_000);
  });

  it('is accepted while 31 other posts with 1,000 statuses are being read, as after an outage', async () => {
    const body = Buffer.from(textOf(...Array.from({ length: 1_000 }, () => status('unknown'))));
    const headers = [
      ['Host', 'codes.test'],
      ['Content-Length', String(body.length)],
      ['X-Hub-Signature-256', sign(body)],
    ] as const;
    const posts = await Promise.all(Array.from({ length: 32 }, () => RawConnection.open(api.port)));
    for (const connection of posts)
      connection.write(requestBytes('POST', PATH, headers), body.subarray(0, -1));
    // The headers of all posts arrive before the last byte of any.
    expect((await postSigned(textOf())).status).toBe(200);
    for (const connection of posts) connection.write(body.subarray(-1));
    const answers = await Promise.all(posts.map((connection) => connection.answer()));
    expect(answers.map((answer) => answer.status)).toEqual(posts.map(() => 200));
  });

  it('is stored once until it is applied, also if it arrives several times concurrently', async () => {
    const id = newMessageId();
    const body = textOf(status(id), status(id, { status: 'read' }));
    const answers = await Promise.all(Array.from({ length: 10 }, () => postSigned(body)));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(await stored(id)).toHaveLength(2);
  });

  // `packages/whatsapp` tests ignored content in detail.
  it.each([
    ['another object', { ...webhook({ statuses: [status(newMessageId())] }), object: 'page' }],
    ['an id with a NUL', webhook({ statuses: [status('wamid.\0')] })],
    ['null', null],
  ])('with %s is answered with 200 and not stored', async (_name, body) => {
    const before = await storedCount();
    expect((await postSigned(JSON.stringify(body))).status).toBe(200);
    expect(await storedCount()).toBe(before);
  });

  it('for an unknown message is stored too, because it may arrive before the message id is written', async () => {
    const id = newMessageId();
    expect((await postSigned(textOf(status(id, { biz_opaque_callback_data: 'not ours' })))).status).toBe(200);
    expect(await stored(id)).toMatchObject([{ report: { attempt: null } }]);
  });

  it('is answered with invalid_json if it is not JSON', async () => {
    expect((await postSigned('{"object":')).json).toMatchObject({ status: 422, code: 'invalid_json' });
  });

  it('is accepted up to 3 MiB', async () => {
    const id = newMessageId();
    const padded = (bytes: number): Buffer => Buffer.from(textOf(status(id)).padEnd(bytes));
    const tooLarge = await postSigned(padded(3 * MEBIBYTE + 1));
    expect(tooLarge.json).toMatchObject({ status: 413, code: 'payload_too_large' });
    expect(await stored(id)).toEqual([]);
    expect((await postSigned(padded(3 * MEBIBYTE))).status).toBe(200);
    expect(await stored(id)).toHaveLength(1);
  });

  it('is answered with internal_error when it cannot be stored, so that the provider posts it again', async () => {
    const id = newMessageId();
    await api.db.sql('alter table provider_reports rename to reports_away');
    const failed = await postSigned(textOf(status(id)));
    await api.db.sql('alter table reports_away rename to provider_reports');
    expect(failed.json).toMatchObject({ status: 500, code: 'internal_error' });
    expect(failed.body).not.toContain(id);
    expect((await postSigned(textOf(status(id)))).status).toBe(200);
    expect(await stored(id)).toHaveLength(1);
  });

  it('enqueues a job for the worker, without content of the message in Redis', async () => {
    const jobs = (): Promise<string[]> => api.redis.keys(`${api.prefix}:receipts:*`);
    const id = newMessageId();
    await postSigned(textOf(status(id)));
    await until('a job for receipts', async () => (await jobs()).length > 0);
    const hashes = (await jobs()).filter((key) => /:\d+$/.test(key)).map((key) => api.redis.hgetall(key));
    const texts = JSON.stringify(await Promise.all(hashes));
    expect(texts).toContain('"data":"{}"');
    for (const secret of ['wamid', id, '5511987654321']) expect(texts).not.toContain(secret);
  });
});

describe('WHATSAPP_APP_SECRET', () => {
  const read = (secrets: string): string[] =>
    readApiConfig({ ...apiVariables(api), WHATSAPP_APP_SECRET: secrets }).WHATSAPP_APP_SECRET;

  it('is one secret, or several while it is rotated', () => {
    expect(read('one')).toEqual(['one']);
    expect(read('new, old')).toEqual(['new', 'old']);
  });

  it.each(['leaked,', ',leaked', 'leaked,,old', ' , '])(
    'refuses an empty secret, which any client could sign with: %j',
    (secrets) => {
      expect(() => read(secrets)).toThrow('WHATSAPP_APP_SECRET must be one secret or several');
      expect(() => read(secrets)).not.toThrow('leaked');
    },
  );
});

it('the business account of a number is learned for its sender, also if the sender is added later', async () => {
  const post = async (status: string): Promise<void> => {
    const value = { metadata: { phone_number_id: '701' }, statuses: [{ id: 'wamid.701', status }] };
    const entry = { id: '700', changes: [{ field: 'messages', value }] };
    const body = JSON.stringify({ object: 'whatsapp_business_account', entry: [entry] });
    expect((await postSigned(body)).status).toBe(200);
  };
  await post('sent');
  const { id } = await buildSender(api.db.database, { phoneNumberId: '701' });
  await post('delivered');
  const [row] = await api.db.sql('select business_account_id from senders where id = $1', [id]);
  expect(row).toEqual({ business_account_id: '700' });
});
