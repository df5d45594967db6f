import { GUESSES_MAX, judge } from '@onecode/domain';
import { changeSend } from '@onecode/store';
import { buildSend } from '@onecode/testing';
import { useWorker } from './testWorker.js';

const BACKOFF_MS = 20;
/** The wait for the receipt of an attempt with an unknown outcome: one more step of the back-off after five attempts. */
const RECEIPT_MS = BACKOFF_MS * 2 ** 5;

const VALIDITY_SECONDS = 600;

const t = useWorker({ env: { DELIVERY_BACKOFF_MS: String(BACKOFF_MS), PROVIDER_TIMEOUT_MS: '1000' } });

describe('a code that has expired or soon will', () => {
  const oldSend = async (seconds: number): Promise<string> => {
    const id = await buildSend(t.database, t.caller);
    await t.age(id, seconds);
    return id;
  };

  it('is never sent: the send fails, and its unit is refunded', async () => {
    const id = await oldSend(VALIDITY_SECONDS);
    await t.enqueue('live', id, 0);
    expect(await t.until(id, 'failed')).toMatchObject({
      failure_reason: 'expired_before_delivery',
      sealed_code: null,
      attempts: 0,
    });
    expect(await t.units(t.caller.accountId)).toMatchObject({
      free_quota: 1,
      returned: ['free_quota'],
    });
    expect(t.tap.requests).toEqual([]);
  });

  it('is not sent with too little time left to type it, and its send fails when it expires', async () => {
    const id = await oldSend(VALIDITY_SECONDS - 29);
    const row = await t.until(id, ({ version }) => version > 0);
    expect(row).toMatchObject({ status: 'queued', attempts: 0, due_at: row.expires_at });
    await t.age(id, 29);
    await t.until(id, 'failed');
    expect(t.tap.requests).toEqual([]);
  });

  it('is not sent again with so little time left', async () => {
    t.simulator.rules.add({ fault: { error: 131000, retryAfter: 60 }, times: 1 });
    const id = await t.send(t.caller);
    await t.until(id, ({ attempts, attempt_id }) => attempts === 1 && attempt_id === null);
    await t.age(id, VALIDITY_SECONDS - 20);
    await t.until(id, (row) => row.due_at?.getTime() === row.expires_at.getTime());
    await t.age(id, 20);
    expect(await t.until(id, 'failed')).toMatchObject({
      failure_reason: 'expired_before_delivery',
    });
    expect(await t.calls(id)).toHaveLength(1);
    expect(await t.units(t.caller.accountId)).toMatchObject({
      free_quota: 1,
      returned: ['free_quota'],
    });
  });

  it('fails its send on time, however long the provider asks to wait', async () => {
    t.simulator.rules.add({ fault: { error: 131000, retryAfter: 3_600 } });
    const id = await t.send(t.caller);
    const row = await t.until(id, ({ attempts, attempt_id }) => attempts === 1 && attempt_id === null);
    expect(row.due_at).toEqual(row.expires_at);
    await t.age(id, VALIDITY_SECONDS);
    expect(await t.until(id, 'failed')).toMatchObject({
      failure_reason: 'expired_before_delivery',
      sealed_code: null,
    });
  });
});

/** Verifies guesses as the API does. */
async function guess(id: string, isRight: boolean): Promise<void> {
  for (let nth = 0; nth < (isRight ? 1 : GUESSES_MAX); nth++)
    await changeSend(t.database, { id }, (send, now) => judge(send, now, () => isRight));
}

const FAILED = {
  status: 'failed',
  failure_reason: 'expired_before_delivery',
  sealed_code: null,
  awaiting_sender: false,
  due_at: null,
};
const RETURNED = { free_quota: 1, credits: 0, returned: ['free_quota'] };

describe.each([
  ['verified', true],
  ['locked', false],
])('a code that was %s before its message left', (_, isRight) => {
  it('is not sent: no call, no attempt, no send slot, and the unit is refunded', async () => {
    await t.sql('truncate sender_recipient_windows');
    const id = await buildSend(t.database, t.caller);
    await guess(id, isRight);
    await t.enqueue('live', id, 1);
    const row = await t.until(id, 'failed');
    expect(row).toMatchObject({ ...FAILED, channel: null, attempts: 0 });
    expect(row.failed_at!.getTime()).toBeLessThan(row.expires_at.getTime());
    expect(await t.attempts(id)).toEqual([]);
    expect(await t.sql('select from sender_recipient_windows')).toEqual([]);
    expect(await t.units(t.caller.accountId)).toEqual(RETURNED);
    expect(t.tap.requests).toEqual([]);
  });

  it('is not retried, and its send ends before the back-off does', async () => {
    t.simulator.rules.add({ fault: { error: 131000, retryAfter: 300 }, times: 1 });
    const id = await t.send(t.caller);
    await t.until(id, ({ attempts, attempt_id }) => attempts === 1 && attempt_id === null);
    await guess(id, isRight);
    expect(await t.until(id, 'failed')).toMatchObject({ ...FAILED, attempts: 1 });
    expect(await t.calls(id)).toHaveLength(1);
    expect(await t.units(t.caller.accountId)).toEqual(RETURNED);
  });

  it('that may have been sent waits for the receipt of that message, and is not retried', async () => {
    t.simulator.rules.add({ fault: { error: 131000, retryAfter: 300 }, times: 1 });
    const id = await t.send(t.caller);
    await t.until(id, ({ attempts, attempt_id }) => attempts === 1 && attempt_id === null);
    const [row] = await t.sql<{ receipt_until: Date }>(
      "update sends set receipt_until = now() + interval '1 hour' where id = $1 returning receipt_until",
      [id],
    );
    await guess(id, isRight);
    expect(await t.row(id)).toMatchObject({ status: 'sending', due_at: row!.receipt_until });
    expect(await t.units(t.caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
    await t.sql(
      'update sends set receipt_until = now(), due_at = now(), next_enqueue_at = now() where id = $1',
      [id],
    );
    expect(await t.until(id, 'failed')).toMatchObject(FAILED);
    expect(await t.calls(id)).toHaveLength(1);
  });

  it('during a call with an unknown outcome ends its send after the wait for a receipt, with one call', async () => {
    t.simulator.changeSettings({ sentMs: 3_600_000, deliveredMs: 3_600_000 });
    t.simulator.rules.add({ fault: { hang: true } });
    const id = await t.send(t.caller);
    await t.until(id, ({ attempt_id }) => attempt_id !== null);
    await guess(id, isRight);
    expect(await t.row(id)).toMatchObject({ status: 'sending', attempt_id: expect.any(String) });
    const row = await t.until(id, 'failed');
    expect(row).toMatchObject({ ...FAILED, attempts: 1 });
    const [attempt] = await t.attempts(id);
    expect(attempt).toMatchObject({ outcome: 'unknown' });
    expect(row.failed_at!.getTime() - attempt!.finished_at!.getTime()).toBeGreaterThan(RECEIPT_MS * 0.9);
    expect(await t.calls(id)).toHaveLength(1);
  });
});

describe('a code that is verified while its send waits for a sender', () => {
  it('ends its send at once rather than when the code expires', async () => {
    // Leaves no sender that is not paused.
    await t.reset();
    const id = await t.send(t.caller);
    await t.until(id, (row) => row.awaiting_sender);
    await guess(id, true);
    const row = await t.until(id, 'failed');
    expect(row).toMatchObject({ ...FAILED, attempts: 0 });
    expect(row.failed_at!.getTime()).toBeLessThan(row.expires_at.getTime());
    expect(await t.units(t.caller.accountId)).toEqual(RETURNED);
  });
});

describe('a test send that is verified before its end', () => {
  it('is read like any other, and costs nothing', async () => {
    const caller = await t.newCaller('test');
    const id = await buildSend(t.database, caller);
    await guess(id, true);
    await t.enqueue('test', id, 1);
    await t.until(id, 'read');
    expect(await t.units(caller.accountId)).toMatchObject({ free_quota: 1, returned: [] });
  });
});
