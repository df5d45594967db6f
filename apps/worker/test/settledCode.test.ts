import { GUESSES_MAX, judge } from '@onecode/domain';
import { changeSend } from '@onecode/store';
import { buildSend } from '@onecode/store/testing';
import { useWorker } from './fixture.js';
import type { House } from './house.js';

const BACKOFF_MS = 20;
/** How long the receipt of an attempt of unknown outcome is waited for: one more step of the back-off after five attempts. */
const RECEIPT_MS = BACKOFF_MS * 2 ** 5;

/** Guesses as the API judges them. */
async function guess(house: House, id: string, isRight: boolean): Promise<void> {
  for (let nth = 0; nth < (isRight ? 1 : GUESSES_MAX); nth++)
    await changeSend(house.db.database, { id }, (send, now) => judge(send, now, () => isRight));
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

  it('is not sent: no call, no attempt, no slot of a sender, and the unit goes back', async () => {
    await t.house.db.sql('truncate sender_recipient_windows');
    const id = await buildSend(t.house.db.database, t.caller);
    await guess(t.house, id, isRight);
    await t.house.enqueue('live', id, 1);
    const row = await t.house.until(id, 'failed');
    expect(row).toMatchObject({ ...FAILED, channel: null, attempts: 0 });
    expect(row.failed_at!.getTime()).toBeLessThan(row.expires_at.getTime());
    expect(await t.house.attempts(id)).toEqual([]);
    expect(await t.house.db.sql('select from sender_recipient_windows')).toEqual([]);
    expect(await t.house.units(t.caller.accountId)).toEqual(RETURNED);
    expect(t.house.tap.requests).toEqual([]);
  });

  it('is not tried again, and nobody waits for the end of its back-off', async () => {
    t.house.simulator.rules.add({ fault: { error: 131000, retryAfter: 300 }, times: 1 });
    const id = await t.house.send(t.caller);
    await t.house.until(id, ({ attempts, attempt_id }) => attempts === 1 && attempt_id === null);
    await guess(t.house, id, isRight);
    expect(await t.house.until(id, 'failed')).toMatchObject({ ...FAILED, attempts: 1 });
    expect(await t.house.calls(id)).toHaveLength(1);
    expect(await t.house.units(t.caller.accountId)).toEqual(RETURNED);
  });

  it('that may have left waits for the receipt of that message, and is not tried again', async () => {
    t.house.simulator.rules.add({ fault: { error: 131000, retryAfter: 300 }, times: 1 });
    const id = await t.house.send(t.caller);
    await t.house.until(id, ({ attempts, attempt_id }) => attempts === 1 && attempt_id === null);
    const [row] = await t.house.db.sql<{ receipt_until: Date }>(
      "update sends set receipt_until = now() + interval '1 hour' where id = $1 returning receipt_until",
      [id],
    );
    await guess(t.house, id, isRight);
    expect(await t.house.row(id)).toMatchObject({ status: 'sending', due_at: row!.receipt_until });
    expect(await t.house.units(t.caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
    await t.house.db.sql(
      'update sends set receipt_until = now(), due_at = now(), next_enqueue_at = now() where id = $1',
      [id],
    );
    expect(await t.house.until(id, 'failed')).toMatchObject(FAILED);
    expect(await t.house.calls(id)).toHaveLength(1);
  });

  it('while a call of unknown outcome was under way ends after the time for its receipt, with one call', async () => {
    t.house.simulator.changeSettings({ sentMs: 3_600_000, deliveredMs: 3_600_000 });
    t.house.simulator.rules.add({ fault: { hang: true } });
    const id = await t.house.send(t.caller);
    await t.house.until(id, ({ attempt_id }) => attempt_id !== null);
    await guess(t.house, id, isRight);
    expect(await t.house.row(id)).toMatchObject({ status: 'sending', attempt_id: expect.any(String) });
    const row = await t.house.until(id, 'failed');
    expect(row).toMatchObject({ ...FAILED, attempts: 1 });
    const [attempt] = await t.house.attempts(id);
    expect(attempt).toMatchObject({ outcome: 'unknown' });
    expect(row.failed_at!.getTime() - attempt!.finished_at!.getTime()).toBeGreaterThan(RECEIPT_MS * 0.9);
    expect(await t.house.calls(id)).toHaveLength(1);
  });
});

describe('a code that is verified while its send waits for a sender', () => {
  const t = useWorker({ senders: 0 });

  it('ends its send at once, and not when the code expires', async () => {
    const id = await t.house.send(t.caller);
    await t.house.until(id, (row) => row.awaiting_sender);
    await guess(t.house, id, true);
    const row = await t.house.until(id, 'failed');
    expect(row).toMatchObject({ ...FAILED, attempts: 0 });
    expect(row.failed_at!.getTime()).toBeLessThan(row.expires_at.getTime());
    expect(await t.house.units(t.caller.accountId)).toEqual(RETURNED);
  });
});

describe('a test send that is verified before its end', () => {
  const t = useWorker();

  it('is read, as any other, and costs nothing', async () => {
    const caller = await t.house.caller('test');
    const id = await buildSend(t.house.db.database, caller);
    await guess(t.house, id, true);
    await t.house.enqueue('test', id, 1);
    await t.house.until(id, 'read');
    expect(await t.house.units(caller.accountId)).toMatchObject({ free_quota: 1, returned: [] });
  });
});
