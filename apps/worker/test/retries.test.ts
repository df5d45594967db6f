import type { Fault } from '@onecode/simulator';
import { buildSend, until, type TapAnswer } from '@onecode/testing';
import { messageIdOf } from '@onecode/whatsapp';
import { useWorker } from './testWorker.js';
import type { AttemptRow } from './workerEnvironment.js';

const BACKOFF_MS = 20;
/** The columns are rounded to milliseconds. */
const ROUNDING_MS = 1;

const pausesMs = (attempts: AttemptRow[]): number[] =>
  attempts
    .slice(1)
    .map(({ started_at }, index) => started_at.getTime() - attempts[index]!.finished_at!.getTime());

describe('a temporary refusal', () => {
  const t = useWorker({ env: { DELIVERY_BACKOFF_MS: String(BACKOFF_MS) }, sweepPauseMs: 10 });

  it('is followed by a retry with the same code, which succeeds', async () => {
    t.simulator.rules.add({ fault: { error: 131000 }, times: 2 });
    const caller = await t.newCaller();
    const id = await t.send(caller, { code: '042913' });
    const row = await t.until(id, 'delivered');
    expect(row).toMatchObject({ attempts: 3, receipt_until: null, encrypted_code: null });
    const attempts = await t.attempts(id);
    expect(attempts).toMatchObject([
      { outcome: 'retry', error_code: 131000 },
      { outcome: 'retry', error_code: 131000 },
      { outcome: 'accepted', error_code: null },
    ]);
    expect(t.simulator.messages()).toMatchObject([{ code: '042913', opaque: `${id}.3` }]);
    expect(await t.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
  });

  it.each([
    ['free quota', { freeQuota: 1, credits: 1 }, { free_quota: 1, credits: 1, returned: ['free_quota'] }],
    ['credit', { freeQuota: 0, credits: 1 }, { free_quota: 0, credits: 1, returned: ['credit'] }],
  ])('five times ends the send, and its unit of %s is refunded', async (_, account, units) => {
    t.simulator.rules.add({ fault: { error: 131000 } });
    const caller = await t.newCaller('live', account);
    const id = await t.send(caller);
    const row = await t.until(id, 'failed');
    expect(row).toMatchObject({
      failure_reason: 'attempts_exhausted',
      encrypted_code: null,
      due_at: null,

      attempts: 5,
    });
    expect(await t.units(caller.accountId)).toEqual(units);
    expect(t.calls(id)).toHaveLength(5);
  });

  it('is followed by increasing waits', async () => {
    t.simulator.rules.add({ fault: { error: 2 } });
    const id = await t.send(await t.newCaller());
    await until('a second attempt', async () => (await t.attempts(id)).length === 2);
    expect(await t.row(id)).toMatchObject({ status: 'sending', failure_reason: null });
    await t.until(id, 'failed');
    const pauses = pausesMs(await t.attempts(id));
    expect(pauses).toHaveLength(4);
    for (const [index, pauseMs] of pauses.entries())
      expect(pauseMs).toBeGreaterThanOrEqual(BACKOFF_MS * 2 ** index - ROUNDING_MS);
  });
});

/** Responses that replace the provider's next ones. */
const answers: TapAnswer[] = [];
const refusal = (status: number, error: object): TapAnswer => ({
  status,
  body: JSON.stringify({ error: { message: 'no', type: 'OAuthException', ...error } }),
});

describe('a temporary error', () => {
  const t = useWorker({ senders: 2, answerInstead: () => answers.shift() ?? null });

  it.each([
    ['80008', refusal(400, { code: 80_008 }), true],
    ['341', refusal(400, { code: 341 }), true],
    ['HTTP 429 with 100', refusal(429, { code: 100 }), true],
    ['a transient 500000', refusal(400, { code: 500_000, is_transient: true }), false],
    ['HTTP 503 with 131009', refusal(503, { code: 131_009 }), false],
    // The tests of `packages/whatsapp` classify every other code and status.
  ])('is not a refusal of the message: %s', async (_what, answer, isLimit) => {
    answers.push(answer);
    const id = await t.send(await t.newCaller());
    await until('an attempt', async () => (await t.attempts(id))[0]?.outcome);
    expect(await t.sql(`select from sender_blocks where cause = 'limit'`)).toHaveLength(isLimit ? 1 : 0);
    await t.endBlocks();
    await t.sql(`update sender_blocks set free_at = now() - interval '1 second'`);
    expect(await t.until(id, 'delivered')).toMatchObject({ attempts: isLimit ? 1 : 2 });
  });
});

describe('an unreachable provider', () => {
  const t = useWorker({ env: { WHATSAPP_API_URL: 'http://127.0.0.1:9/v25.0' } });

  it('causes five attempts and an immediate refund, because no message can have been sent', async () => {
    const caller = await t.newCaller();
    const id = await t.send(caller);
    expect(await t.until(id, 'failed')).toMatchObject({
      failure_reason: 'attempts_exhausted',
      receipt_until: null,
      attempts: 5,
    });
    expect((await t.attempts(id)).map(({ outcome }) => outcome)).toEqual(Array(5).fill('retry'));
    expect(await t.units(caller.accountId)).toMatchObject({
      free_quota: 1,
      returned: ['free_quota'],
    });
  });
});

/** The wait for a receipt after five attempts: one more step of the back-off. */
const RECEIPT_WAIT_MS = BACKOFF_MS * 2 ** 5;
const LATER_MS = 3_600_000;

/** A timeout, a reset after the request was written, and a server error. */
const FAULTS: Fault[] = [{ hang: true }, { reset: 'after' }, { wrongBody: 'html', http: 500 }];

describe('an unknown outcome without a receipt', () => {
  const t = useWorker({ env: { DELIVERY_BACKOFF_MS: String(BACKOFF_MS), PROVIDER_TIMEOUT_MS: '300' } });

  it('is followed by the same code in five calls, and by a refund only after the wait for a receipt', async () => {
    t.simulator.changeSettings({ sentMs: LATER_MS, deliveredMs: LATER_MS });
    const sends = [];
    for (const [index, fault] of FAULTS.entries()) {
      const recipient = `+551198765010${index}`;
      t.simulator.rules.add({ recipient, fault });
      const caller = await t.newCaller();
      const code = `90210${index}`;
      sends.push({ caller, code, id: await t.send(caller, { recipient, code }) });
    }
    for (const { caller, id, code } of sends) {
      const row = await t.until(id, 'failed');
      expect(row).toMatchObject({
        failure_reason: 'attempts_exhausted',
        attempts: 5,
        receipt_until: expect.any(Date),
        encrypted_code: null,
      });
      const attempts = await t.attempts(id);
      expect(attempts.map(({ outcome }) => outcome)).toEqual(Array(5).fill('unknown'));
      const calls = t.calls(id);
      expect(calls).toHaveLength(5);
      for (const { body } of calls) expect(body.split(`"text":"${code}"`)).toHaveLength(3);
      const lastBegin = Math.max(...attempts.map(({ started_at }) => started_at.getTime()));
      expect(row.receipt_until!.getTime() - lastBegin).toBeGreaterThanOrEqual(RECEIPT_WAIT_MS);
      expect(row.failed_at!.getTime()).toBeGreaterThanOrEqual(row.receipt_until!.getTime());
      expect(await t.units(caller.accountId)).toMatchObject({
        free_quota: 1,
        returned: ['free_quota'],
      });
    }
  });
});

describe('a receipt with opaque data', () => {
  // The next attempt is a minute away, so only the receipt can decide this one.
  const t = useWorker({ env: { DELIVERY_BACKOFF_MS: '60000' } });

  it('decides an attempt after a reset: the message was delivered, and no second message is sent', async () => {
    t.simulator.rules.add({ fault: { reset: 'after' } });
    const caller = await t.newCaller();
    const id = await t.send(caller);
    // The two receipts may be applied in either order, and each sets its time.
    const row = await t.until(id, ({ status, sent_at }) => status === 'delivered' && sent_at !== null);
    expect(row).toMatchObject({ encrypted_code: null, due_at: null, failed_at: null });
    const [message] = t.simulator.messages();
    expect(await t.attempts(id)).toMatchObject([
      { outcome: 'accepted', message_id: messageIdOf(message!.id) },
    ]);
    expect(t.calls(id)).toHaveLength(1);
    expect(await t.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
  });

  it.each([
    ['delivered', { status: 'delivered', failure_reason: null }, []],
    ['failed', { status: 'failed', failure_reason: 'rejected_by_provider' }, ['free_quota']],
  ] as const)(
    'with the status %s decides the send while its last attempt waits for a receipt',
    async (status, ended, returned) => {
      t.simulator.changeSettings({ sentMs: LATER_MS, deliveredMs: LATER_MS });
      t.simulator.rules.add({ fault: { wrongBody: 'no_id' } });
      const id = await buildSend(t.database, t.caller);
      await t.sql('update sends set attempts = 4 where id = $1', [id]);
      await t.enqueue('live', id);
      const waiting = await t.until(
        id,
        ({ receipt_until, claimed_until }) => receipt_until !== null && claimed_until === null,
      );
      expect(waiting).toMatchObject({ status: 'sending', failed_at: null });
      expect(await t.units(t.caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });

      const [message] = t.simulator.messages();
      expect(await t.simulator.postReceipt({ messageId: message!.id, status })).toBe(200);
      expect(await t.until(id, ended.status)).toMatchObject({
        ...ended,
        encrypted_code: null,
        due_at: null,
      });
      expect((await t.units(t.caller.accountId)).returned).toEqual(returned);
    },
  );
});
