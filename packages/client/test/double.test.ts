import { request as httpRequest } from 'node:http';
import { PROBLEMS } from '@onecode/domain';
import { ConnectionError, IndeterminateVerificationError, Onecode, ProblemError } from '@onecode/client';
import {
  startOnecode,
  type Delivery,
  type OnecodeServer,
  type Outcome,
  type RecordedSend,
} from '@onecode/client/testing';
import { validatorAt } from '@onecode/testing/contract';

const TO = '+5511987654321';

let server: OnecodeServer;
/** Makes only one attempt, so that a test gets the fault itself. */
let onecode: Onecode;
beforeEach(async () => {
  server = await startOnecode({ freeQuota: 5 });
  onecode = new Onecode({ baseUrl: server.baseUrl, apiKey: server.keys.live, maxRetries: 0 });
});
afterEach(() => server.close());

const sendTo = async (to = TO): Promise<string> => (await onecode.send({ to })).id;
const statusAfter = async (id: string, seconds: number): Promise<string> => {
  server.advance(seconds);
  return (await onecode.status(id)).status;
};

describe('a delivery', () => {
  beforeEach(() => {
    Object.assign(server.account, { freeQuota: 1, credits: 1 });
  });

  it('reaches delivered at the first read if nothing is scripted', async () => {
    const created = await onecode.send({ to: TO });
    expect(created.status).toBe('queued');
    const send = await onecode.status(created.id);
    expect(send).toMatchObject({ status: 'delivered', channel: 'whatsapp', read_at: null });
    expect(send.delivered_at).toBe(created.created_at);
  });

  it('ends in the sandbox for a test send, whatever is scripted', async () => {
    server.script(TO, { status: 'failed', reason: 'rejected_by_provider' });
    const sandbox = new Onecode({ baseUrl: server.baseUrl, apiKey: server.keys.test });
    const { id } = await sandbox.send({ to: TO });
    expect(await sandbox.status(id)).toMatchObject({ status: 'read', channel: 'sandbox', from: null });
  });

  it('follows the script on the adjustable clock', async () => {
    server.script(
      TO,
      { status: 'sending' },
      { status: 'sent', afterMs: 10_000 },
      { status: 'delivered', afterMs: 20_000 },
      { status: 'read', afterMs: 60_000 },
    );
    const id = await sendTo();
    const seen = [await statusAfter(id, 0)];
    for (const seconds of [11, 10, 30, 20]) seen.push(await statusAfter(id, seconds));
    expect(seen).toEqual(['sending', 'sent', 'delivered', 'delivered', 'read']);
    const { created_at, sent_at, read_at } = await onecode.status(id);
    expect(Date.parse(sent_at ?? '') - Date.parse(created_at)).toBe(10_000);
    expect(Date.parse(read_at ?? '') - Date.parse(created_at)).toBe(60_000);
  });

  it.each(['expired_before_delivery', 'attempts_exhausted', 'rejected_by_provider'] as const)(
    'fails with %s, and refunds the unit once to its source',
    async (reason) => {
      const { account } = server;
      await sendTo('+5511900000001');
      server.script(TO, { status: 'failed', reason, afterMs: 5_000 });
      const id = await sendTo();
      expect(account).toMatchObject({ freeQuota: 0, credits: 0 });
      expect(await statusAfter(id, 4)).toBe('queued');
      expect(account.credits).toBe(0);
      expect(await statusAfter(id, 2)).toBe('failed');
      expect(await onecode.status(id)).toMatchObject({ failure_reason: reason, delivered_at: null });
      server.advance(3_600);
      expect(account).toMatchObject({ freeQuota: 0, credits: 1 });
    },
  );

  it('charges the unit again if the code is verified after a sent message failed', async () => {
    server.script(
      TO,
      { status: 'sent' },
      { status: 'failed', reason: 'rejected_by_provider', afterMs: 1_000 },
    );
    const { id } = await onecode.send({ to: TO, code: '4711' });
    expect(await statusAfter(id, 2)).toBe('failed');
    expect(server.account).toMatchObject({ freeQuota: 1, credits: 1 });
    expect((await onecode.verify(id, '4711')).valid).toBe(true);
    expect(server.account).toMatchObject({ freeQuota: 0, credits: 1 });
  });

  it.each<[string, Delivery]>([
    ['stays queued', { status: 'queued' }],
    ['stays in sending', { status: 'sending' }],
    ['is scripted to expire', { status: 'failed', reason: 'expired_before_delivery' }],
  ])('fails with expired_before_delivery at the deadline if it %s', async (_name, outcome) => {
    server.script(TO, outcome);
    const id = await sendTo();
    const before = await statusAfter(id, 599);
    expect(before).toBe(outcome.status === 'sending' ? 'sending' : 'queued');
    expect(await statusAfter(id, 1)).toBe('failed');
    const send = await onecode.status(id);
    expect(send).toMatchObject({ failure_reason: 'expired_before_delivery', failed_at: send.expires_at });
    expect(server.account.freeQuota).toBe(1);
  });

  it('moves only forward, and never to failed after delivered', async () => {
    const id = await sendTo();
    for (const outcome of [{ status: 'sent' }, { status: 'failed', reason: 'attempts_exhausted' }] as const) {
      server.script(TO, outcome);
      expect(await statusAfter(id, 0)).toBe('delivered');
    }
    server.script(TO, { status: 'read' });
    expect(await statusAfter(id, 0)).toBe('read');
  });

  it('follows a later script for its number from the time of that script', async () => {
    server.script(TO, { status: 'queued' });
    const [id, other] = [await sendTo(), await sendTo('+5511900000001')];
    expect(await statusAfter(id, 100)).toBe('queued');
    server.script('+55 (11) 98765-4321', { status: 'delivered', afterMs: 2_000 });
    expect(await statusAfter(id, 1)).toBe('queued');
    expect(await statusAfter(id, 1)).toBe('delivered');
    expect(await statusAfter(other, 0)).toBe('delivered');
  });
});

describe('a code', () => {
  it.each(['expired', 'locked', 'verified'] as const)(
    'starts as pending and is then refused if it is scripted as %s',
    async (verification) => {
      server.script(TO, { verification });
      const created = await onecode.send({ to: TO, code: '004217' });
      expect(created.verification).toBe('pending');
      expect(await onecode.verify(created.id, '004217')).toEqual({
        valid: false,
        verification,
        attempts_left: 0,
      });
      expect((await onecode.status(created.id)).verification).toBe(verification);
    },
  );

  it('expires when the clock reaches its deadline', async () => {
    server.script(TO, { status: 'sent' });
    const id = await sendTo();
    server.advance(599);
    expect(await onecode.verify(id, 'wrong')).toMatchObject({ verification: 'pending', attempts_left: 4 });
    server.advance(1);
    expect(await onecode.verify(id, server.lastCode(TO))).toMatchObject({
      valid: false,
      verification: 'expired',
    });
  });
});

it.each<[string, Outcome]>([
  ['x', { status: 'sent' }],
  ['5511987654321', { answer: 'lost' }],
])('OnecodeServer.script refuses the recipient %s, which is not a phone number', (to, outcome) => {
  expect(() => server.script(to, outcome)).toThrow(RangeError);
});

it.each<[object, string]>([
  [{ answer: 'bogus' }, 'answer must be one of insufficient_credits, rate_limited, internal_error, lost'],
  [{ answer: 'lost', on: 'create' }, 'on must be one of send, status, verify'],
  [{ answer: 'lost', times: 'twice' }, 'times must be a whole number of at least 1'],
  [{ answer: 'lost', times: 0 }, 'times must be a whole number of at least 1'],
  [
    { answer: 'rate_limited', retryAfterSeconds: 0.1 },
    'retryAfterSeconds must be a whole number of at least 0',
  ],
  [{ answer: 'lost', afterWork: 1 }, 'afterWork must be true or false'],
  [{ status: 'faild' }, 'status must be one of queued'],
  [{ status: 'failed' }, 'reason must be one of expired_before_delivery'],
  [{ status: 'sent', after: 5 }, 'has only the fields status, reason, afterMs'],
  [{ verification: 'pending' }, 'verification must be one of verified, expired, locked'],
  [{ anwser: 'lost' }, 'one of the fields status, verification, answer'],
])('OnecodeServer.script refuses the outcome %j, and names the allowed values', async (outcome, message) => {
  expect(() => server.script(TO, outcome as Outcome)).toThrow(message);
  await expect(startOnecode({ delivery: { status: 'faild' } as never })).rejects.toThrow(
    'status must be one of',
  );
});

const thrownBy = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'nothing',
    (error: unknown) => error,
  );

describe('a lost answer', () => {
  it.each([
    ['before the work', false, 0],
    ['after the work', true, 1],
  ] as const)(
    'leads to one send after a repeat (lost %s, afterWork: %s, %i sends before the repeat)',
    async (_name, afterWork, sends) => {
      server.script(TO, { answer: 'lost', afterWork });
      const error = await thrownBy(onecode.send({ to: TO }));
      expect(error).toBeInstanceOf(ConnectionError);
      expect(server.sends).toHaveLength(sends);
      expect(server.account.freeQuota).toBe(5 - sends);
      const { idempotencyKey } = error as ConnectionError;
      await onecode.send({ to: TO }, { idempotencyKey });
      expect(server.sends).toHaveLength(1);
      expect(server.account.freeQuota).toBe(4);
    },
  );

  it.each([
    ['lost', false, 'pending'],
    ['lost', true, 'verified'],
    ['internal_error', false, 'pending'],
    ['internal_error', true, 'verified'],
  ] as const)(
    'makes a verification indeterminate (%s, afterWork: %s) and leaves the code %s',
    async (answer, afterWork, state) => {
      const { id } = await onecode.send({ to: TO, code: '004217' });
      server.script(TO, { answer, on: 'verify', afterWork });
      expect(await thrownBy(onecode.verify(id, '004217'))).toBeInstanceOf(IndeterminateVerificationError);
      expect((await onecode.status(id)).verification).toBe(state);
    },
  );

  it('hides a refusal if it is scripted after the work', async () => {
    server.script(TO, { answer: 'lost', afterWork: true });
    server.account.freeQuota = 0;
    server.account.credits = 0;
    expect(await thrownBy(onecode.send({ to: TO }))).toBeInstanceOf(ConnectionError);
    expect(server.sends).toHaveLength(0);
  });

  it('affects only the next read of a status', async () => {
    const { id } = await onecode.send({ to: TO });
    server.script(TO, { answer: 'lost', on: 'status' });
    expect(await thrownBy(onecode.status(id))).toBeInstanceOf(ConnectionError);
    expect(await onecode.status(id)).toMatchObject({ id });
  });
});

describe('a scripted refusal', () => {
  it.each([
    ['insufficient_credits', 402, undefined],
    ['rate_limited', 429, 31],
    ['internal_error', 500, undefined],
  ] as const)(
    'is returned once with the detail of the API, and reserves nothing and binds no key: %s',
    async (answer, status, retryAfterSeconds) => {
      server.script(TO, answer === 'rate_limited' ? { answer, retryAfterSeconds: 31 } : { answer });
      const idempotencyKey = 'the same';
      const error = await thrownBy(onecode.send({ to: TO }, { idempotencyKey }));
      expect(error).toBeInstanceOf(ProblemError);
      const detail = PROBLEMS[answer].meaning;
      expect(error).toMatchObject({ code: answer, status, detail, retryAfterSeconds });
      expect([server.sends.length, server.account.freeQuota]).toEqual([0, 5]);
      await onecode.send({ to: TO, locale: 'en' }, { idempotencyKey });
      expect(server.sends).toHaveLength(1);
    },
  );

  it('is returned as often as scripted, in the order of the scripts, only for its number', async () => {
    server.script(TO, { answer: 'internal_error', times: 2 }, { answer: 'insufficient_credits' });
    await onecode.send({ to: '+5511900000001' });
    const codes = [];
    for (let n = 0; n < 3; n++) codes.push(await thrownBy(onecode.send({ to: TO })));
    expect(codes).toMatchObject([
      { code: 'internal_error' },
      { code: 'internal_error' },
      { code: 'insufficient_credits' },
    ]);
    expect(await onecode.send({ to: TO })).toMatchObject({ status: 'queued' });
  });
});

it('startOnecode starts servers that share no state', async () => {
  const [one, two, three] = await Promise.all([startOnecode(), startOnecode(), startOnecode()]);
  const servers = [one, two, three];
  expect(new Set(servers.map(({ baseUrl }) => baseUrl)).size).toBe(3);
  await new Onecode({ baseUrl: one.baseUrl, apiKey: one.keys.live }).send({ to: TO });
  expect([one.sends.length, two.sends.length]).toEqual([1, 0]);
  const astray = new Onecode({ baseUrl: two.baseUrl, apiKey: one.keys.live });
  await expect(astray.send({ to: TO })).rejects.toMatchObject({ code: 'invalid_api_key' });
  two.advance(60);
  expect(two.now().getTime() - one.now().getTime()).toBeGreaterThan(59_000);
  await Promise.all(servers.map((server) => server.close()));
});

it('OnecodeServer.close releases the port and all connections', async () => {
  const server = await startOnecode();
  const { port } = new URL(server.baseUrl);
  const onecode = new Onecode({ baseUrl: server.baseUrl, apiKey: server.keys.test });
  await onecode.signupSettings();
  const unfinished = httpRequest(`${server.baseUrl}/v1/send`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${server.keys.test}`, 'Content-Length': '10' },
  });
  const broken = new Promise((resolve) => unfinished.once('error', resolve));
  await new Promise<void>((resolve) => {
    unfinished.once('socket', (socket) => socket.once('connect', () => resolve()));
    unfinished.flushHeaders();
  });
  await server.close();
  await broken;
  const again = await startOnecode({ port: Number(port) });
  expect(again.baseUrl).toBe(server.baseUrl);
  await again.close();
  await again.close();
});

it('startOnecode throws if the port is in use', async () => {
  const server = await startOnecode();
  await expect(startOnecode({ port: Number(new URL(server.baseUrl).port) })).rejects.toThrow('EADDRINUSE');
  await server.close();
});

describe('OnecodeServer', () => {
  it('returns the sends with the contract’s fields, number, code, locale and key', async () => {
    await onecode.send({ to: '+55 (11) 98765-4321', code: '004217', locale: 'en' }, { idempotencyKey: 'k' });
    await onecode.send({ to: '+5511900000001' });
    const [first, second] = server.sends;
    const { to, code, locale, idempotencyKey, ...send } = first as RecordedSend;
    expect({ to, code, locale, idempotencyKey }).toEqual({
      to: TO,
      code: '004217',
      locale: 'en',
      idempotencyKey: 'k',
    });
    expect(validatorAt('/components/schemas/Send')(send)).toBe(true);
    expect(send).toEqual(await onecode.status(send.id));
    expect(second).toMatchObject({ to: '+5511900000001', locale: null });
    expect(server.lastCode('+55 11 98765 4321')).toBe('004217');
    expect(server.lastCode('+5511900000001')).toBe(second?.code);
    await onecode.send({ to: TO, code: '7777' });
    expect(server.lastCode(TO)).toBe('7777');
  });

  it('throws for a number without a send, a clock that would move back or too far, and an unknown key', async () => {
    expect(() => server.lastCode(TO)).toThrow('Nothing was sent');
    for (const seconds of [-1, Number.NaN, 1e308, '5'])
      expect(() => server.advance(seconds as number)).toThrow(RangeError);
    expect(() => server.revokeKey('ak_test_unknown')).toThrow('no such key');
  });
});

it('startOnecode applies the options for codes, units, limits, deliveries and sign-up settings', async () => {
  const server = await startOnecode({
    codeValiditySeconds: 90,
    freeSends: 3,
    credits: 0,
    perRecipientHour: 1,
    delivery: [{ status: 'sent' }, { status: 'delivered', afterMs: 1_000 }],
  });
  const onecode = new Onecode({ baseUrl: server.baseUrl, apiKey: server.keys.live });
  expect(await onecode.signupSettings()).toEqual({ free_sends: 3 });
  const send = await onecode.send({ to: TO });
  expect(Date.parse(send.expires_at) - Date.parse(send.created_at)).toBe(90_000);
  expect(server.account).toMatchObject({ freeQuota: 2, credits: 0 });
  expect((await onecode.status(send.id)).status).toBe('sent');
  server.advance(1);
  expect((await onecode.status(send.id)).status).toBe('delivered');
  await expect(onecode.send({ to: TO })).rejects.toBeInstanceOf(ProblemError);
  await server.close();
});

it('OnecodeServer.advance changes the Date header of responses', async () => {
  server.advance(86_400);
  const { headers } = await fetch(`${server.baseUrl}/v1/signup-settings`);
  const ms = server.now().getTime() - Date.parse(headers.get('date') ?? '');
  expect(ms).toBeGreaterThanOrEqual(0);
  expect(ms).toBeLessThan(60_000);
});

it.each([
  ['127.0.0.1', '127.0.0.2', '127.0.0.1'],
  ['127.0.0.2', '127.0.0.1', '127.0.0.2'],
  ['0.0.0.0', undefined, '127.0.0.1'],
])('startOnecode listens only at %s', async (host, other, shown) => {
  const double = await startOnecode({ host });
  try {
    const { hostname, port } = new URL(double.baseUrl);
    expect(hostname).toBe(shown);
    expect((await fetch(`${double.baseUrl}/v1/signup-settings`)).status).toBe(200);
    if (other !== undefined)
      await expect(fetch(`http://${other}:${port}/v1/signup-settings`)).rejects.toThrow('fetch failed');
  } finally {
    await double.close();
  }
});
