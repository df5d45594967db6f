import { ConnectionError, IndeterminateVerificationError, Onecode, ProblemError } from '@onecode/client';
import { startOnecode, type OnecodeServer } from '@onecode/client/testing';

let server: OnecodeServer;
let onecode: Onecode;
/** Gives up after its first try, so that a test meets the fault itself. */
let single: Onecode;
beforeEach(async () => {
  server = await startOnecode({ freeQuota: 5 });
  const access = { baseUrl: server.baseUrl, apiKey: server.keys.live };
  onecode = new Onecode(access);
  single = new Onecode({ ...access, maxRetries: 0 });
});
afterEach(() => server.close());

const TO = '+5511987654321';
const thrownBy = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'nothing',
    (error: unknown) => error,
  );

describe('an answer that is lost', () => {
  it.each([
    ['before the work', false, 0],
    ['after the work', true, 1],
  ] as const)('%s of a creation leaves as many sends: %s, %i', async (_name, afterWork, sends) => {
    server.script(TO, { answer: 'lost', afterWork });
    const error = await thrownBy(single.send({ to: TO }));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(server.sends).toHaveLength(sends);
    expect(server.account.freeQuota).toBe(5 - sends);
    const { idempotencyKey } = error as ConnectionError;
    await single.send({ to: TO }, { idempotencyKey });
    expect(server.sends).toHaveLength(1);
    expect(server.account.freeQuota).toBe(4);
  });

  it.each([false, true])(
    'is made good by the SDK: one send, one unit (after the work: %s)',
    async (afterWork) => {
      server.script(TO, { answer: 'lost', afterWork, times: 2 });
      const { id } = await onecode.send({ to: TO });
      expect(server.sends.map((send) => send.id)).toEqual([id]);
      expect(server.account.freeQuota).toBe(4);
    },
  );

  it.each([
    ['lost', false, 'pending'],
    ['lost', true, 'verified'],
    ['internal_error', false, 'pending'],
    ['internal_error', true, 'verified'],
  ] as const)(
    'to a verification (%s, after the work: %s) is indeterminate, and the code is %s',
    async (answer, afterWork, state) => {
      const { id } = await onecode.send({ to: TO, code: '004217' });
      server.script(TO, { answer, on: 'verify', afterWork });
      expect(await thrownBy(onecode.verify(id, '004217'))).toBeInstanceOf(IndeterminateVerificationError);
      expect((await onecode.status(id)).verification).toBe(state);
    },
  );

  it('after the work is lost as well where the work came to a refusal', async () => {
    server.script(TO, { answer: 'lost', afterWork: true });
    server.account.freeQuota = 0;
    server.account.credits = 0;
    expect(await thrownBy(single.send({ to: TO }))).toBeInstanceOf(ConnectionError);
    expect(server.sends).toHaveLength(0);
  });

  it('to a status meets the next reading only', async () => {
    const { id } = await onecode.send({ to: TO });
    server.script(TO, { answer: 'lost', on: 'status' });
    expect(await thrownBy(onecode.status(id))).toBeInstanceOf(ConnectionError);
    expect(await onecode.status(id)).toMatchObject({ id });
  });
});

describe('a refusal', () => {
  it.each([
    ['insufficient_credits', 402, undefined],
    ['rate_limited', 429, 31],
    ['internal_error', 500, undefined],
  ] as const)(
    '%s is met once, reserves nothing and binds no key',
    async (answer, status, retryAfterSeconds) => {
      server.script(TO, answer === 'rate_limited' ? { answer, retryAfterSeconds: 31 } : { answer });
      const idempotencyKey = 'the same';
      const error = await thrownBy(single.send({ to: TO }, { idempotencyKey }));
      expect(error).toBeInstanceOf(ProblemError);
      expect(error).toMatchObject({ code: answer, status, retryAfterSeconds });
      expect([server.sends.length, server.account.freeQuota]).toEqual([0, 5]);
      await single.send({ to: TO, locale: 'en' }, { idempotencyKey });
      expect(server.sends).toHaveLength(1);
    },
  );

  it('comes as often as it was scripted, in the order of the scripts, and to this number only', async () => {
    server.script(TO, { answer: 'internal_error', times: 2 }, { answer: 'insufficient_credits' });
    await single.send({ to: '+5511900000001' });
    const codes = [];
    for (let n = 0; n < 3; n++) codes.push(await thrownBy(single.send({ to: TO })));
    expect(codes).toMatchObject([
      { code: 'internal_error' },
      { code: 'internal_error' },
      { code: 'insufficient_credits' },
    ]);
    expect(await single.send({ to: TO })).toMatchObject({ status: 'queued' });
  });

  it('for want of units or by a limit comes from the fields of account and application', async () => {
    server.account.freeQuota = 0;
    server.account.credits = 0;
    expect(await thrownBy(single.send({ to: TO }))).toMatchObject({ code: 'insufficient_credits' });
    server.account.credits = 2;
    server.applications.live.perMinute = 1;
    await single.send({ to: TO });
    const limited = (await thrownBy(single.send({ to: TO }))) as ProblemError;
    expect(limited).toMatchObject({ code: 'rate_limited', retryAfterSeconds: expect.any(Number) });
    server.advance(limited.retryAfterSeconds ?? 0);
    await single.send({ to: TO });
    expect(server.account.credits).toBe(0);
  });
});
