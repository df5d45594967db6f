import { GUESSES_MAX, judge } from '@onecode/domain';
import { changeSend } from '@onecode/store';
import { buildSend } from '@onecode/testing';
import { useWorker } from './testWorker.js';
import type { WorkerEnvironment } from './workerEnvironment.js';

const BACKOFF_MS = 20;
/** The wait for the receipt of an attempt with an unknown outcome: one more step of the back-off after five attempts. */
const RECEIPT_MS = BACKOFF_MS * 2 ** 5;

/** Verifies guesses as the API does. */
async function guess(environment: WorkerEnvironment, id: string, isRight: boolean): Promise<void> {
  for (let nth = 0; nth < (isRight ? 1 : GUESSES_MAX); nth++)
    await changeSend(environment.db.database, { id }, (send, now) => judge(send, now, () => isRight));
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
  const t = useWorker({ env: { DELIVERY_BACKOFF_MS: String(BACKOFF_MS), PROVIDER_TIMEOUT_MS: '1000' } });

  it('is not sent: no call, no attempt, no send slot, and the unit is refunded', async () => {
    await t.environment.db.sql('truncate sender_recipient_windows');
    const id = await buildSend(t.environment.db.database, t.caller);
    await guess(t.environment, id, isRight);
    await t.environment.enqueue('live', id, 1);
    const row = await t.environment.until(id, 'failed');
    expect(row).toMatchObject({ ...FAILED, channel: null, attempts: 0 });
    expect(row.failed_at!.getTime()).toBeLessThan(row.expires_at.getTime());
    expect(await t.environment.attempts(id)).toEqual([]);
    expect(await t.environment.db.sql('select from sender_recipient_windows')).toEqual([]);
    expect(await t.environment.units(t.caller.accountId)).toEqual(RETURNED);
    expect(t.environment.tap.requests).toEqual([]);
  });

  it('is not retried, and its send ends before the back-off does', async () => {
    t.environment.simulator.rules.add({ fault: { error: 131000, retryAfter: 300 }, times: 1 });
    const id = await t.environment.send(t.caller);
    await t.environment.until(id, ({ attempts, attempt_id }) => attempts === 1 && attempt_id === null);
    await guess(t.environment, id, isRight);
    expect(await t.environment.until(id, 'failed')).toMatchObject({ ...FAILED, attempts: 1 });
    expect(await t.environment.calls(id)).toHaveLength(1);
    expect(await t.environment.units(t.caller.accountId)).toEqual(RETURNED);
  });

  it('that may have been sent waits for the receipt of that message, and is not retried', async () => {
    t.environment.simulator.rules.add({ fault: { error: 131000, retryAfter: 300 }, times: 1 });
    const id = await t.environment.send(t.caller);
    await t.environment.until(id, ({ attempts, attempt_id }) => attempts === 1 && attempt_id === null);
    const [row] = await t.environment.db.sql<{ receipt_until: Date }>(
      "update sends set receipt_until = now() + interval '1 hour' where id = $1 returning receipt_until",
      [id],
    );
    await guess(t.environment, id, isRight);
    expect(await t.environment.row(id)).toMatchObject({ status: 'sending', due_at: row!.receipt_until });
    expect(await t.environment.units(t.caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
    await t.environment.db.sql(
      'update sends set receipt_until = now(), due_at = now(), next_enqueue_at = now() where id = $1',
      [id],
    );
    expect(await t.environment.until(id, 'failed')).toMatchObject(FAILED);
    expect(await t.environment.calls(id)).toHaveLength(1);
  });

  it('during a call with an unknown outcome ends its send after the wait for a receipt, with one call', async () => {
    t.environment.simulator.changeSettings({ sentMs: 3_600_000, deliveredMs: 3_600_000 });
    t.environment.simulator.rules.add({ fault: { hang: true } });
    const id = await t.environment.send(t.caller);
    await t.environment.until(id, ({ attempt_id }) => attempt_id !== null);
    await guess(t.environment, id, isRight);
    expect(await t.environment.row(id)).toMatchObject({ status: 'sending', attempt_id: expect.any(String) });
    const row = await t.environment.until(id, 'failed');
    expect(row).toMatchObject({ ...FAILED, attempts: 1 });
    const [attempt] = await t.environment.attempts(id);
    expect(attempt).toMatchObject({ outcome: 'unknown' });
    expect(row.failed_at!.getTime() - attempt!.finished_at!.getTime()).toBeGreaterThan(RECEIPT_MS * 0.9);
    expect(await t.environment.calls(id)).toHaveLength(1);
  });
});

describe('a code that is verified while its send waits for a sender', () => {
  const t = useWorker({ senders: 0 });

  it('ends its send at once rather than when the code expires', async () => {
    const id = await t.environment.send(t.caller);
    await t.environment.until(id, (row) => row.awaiting_sender);
    await guess(t.environment, id, true);
    const row = await t.environment.until(id, 'failed');
    expect(row).toMatchObject({ ...FAILED, attempts: 0 });
    expect(row.failed_at!.getTime()).toBeLessThan(row.expires_at.getTime());
    expect(await t.environment.units(t.caller.accountId)).toEqual(RETURNED);
  });
});

describe('a test send that is verified before its end', () => {
  const t = useWorker();

  it('is read like any other, and costs nothing', async () => {
    const caller = await t.environment.caller('test');
    const id = await buildSend(t.environment.db.database, caller);
    await guess(t.environment, id, true);
    await t.environment.enqueue('test', id, 1);
    await t.environment.until(id, 'read');
    expect(await t.environment.units(caller.accountId)).toMatchObject({ free_quota: 1, returned: [] });
  });
});
