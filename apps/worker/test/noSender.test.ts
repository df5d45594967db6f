import { pauseSender, resumeSender } from '@onecode/store';
import { buildSender, TEST_ACTOR } from '@onecode/testing';
import { useWorker } from './testWorker.js';

describe('a send without an available sender', () => {
  const t = useWorker({ senders: 0 });

  const waitingSend = async (): Promise<string> => {
    const id = await t.environment.send(t.caller);
    expect(await t.environment.until(id, (row) => row.awaiting_sender)).toMatchObject({
      status: 'queued',
      channel: null,
      from_number: null,
      attempts: 0,
    });
    return id;
  };

  it('stays queued without a call through every job and sweep', async () => {
    const id = await waitingSend();
    const before = await t.environment.row(id);
    await t.environment.enqueue('live', id, 99);
    for (let round = 0; round < 3; round++) await t.worker.sweep();
    expect(await t.environment.row(id)).toEqual(before);
    expect(t.environment.tap.requests).toEqual([]);
  });

  it('goes out when a sender is added', async () => {
    const id = await waitingSend();
    const sender = await buildSender(t.environment.db.database);
    expect(await t.environment.until(id, 'delivered')).toMatchObject({
      from_number: sender.number,
      attempts: 1,
    });
  });

  it('goes out when a sender is resumed', async () => {
    const sender = await buildSender(t.environment.db.database);
    await pauseSender(t.environment.db.database, TEST_ACTOR, sender.id);
    const id = await waitingSend();
    await resumeSender(t.environment.db.database, TEST_ACTOR, sender.id);
    await t.environment.until(id, 'delivered');
  });

  it('goes out when the cool-down of a sender ends', async () => {
    const sender = await buildSender(t.environment.db.database);
    await t.environment.db.sql(
      "update senders set consecutive_failures = 1, paused_at = now(), paused_until = now() + interval '1 hour', pause_reason = 'a fault', pause_source = 'answer' where id = $1",
      [sender.id],
    );
    const id = await waitingSend();
    await t.environment.db.sql(
      "update senders set paused_until = now() - interval '1 second' where id = $1",
      [sender.id],
    );
    await t.environment.until(id, 'delivered');
  });

  it('fails when its code expires: the code is erased and the unit is refunded', async () => {
    const id = await waitingSend();
    await t.environment.age(id, 601);
    const row = await t.environment.until(id, 'failed');
    expect(row).toMatchObject({
      failure_reason: 'expired_before_delivery',
      channel: null,
      from_number: null,
      sealed_code: null,
      awaiting_sender: false,
      due_at: null,
      next_enqueue_at: null,
    });
    expect(row.failed_at!.getTime()).toBeGreaterThanOrEqual(row.expires_at.getTime());
    expect(await t.environment.units(t.caller.accountId)).toMatchObject({
      free_quota: 1,
      returned: ['free_quota'],
    });
    await buildSender(t.environment.db.database);
    await t.worker.sweep();
    expect(await t.environment.row(id)).toEqual(row);
    expect(t.environment.tap.requests).toEqual([]);
  });

  it('is one of many that go out once each', async () => {
    const caller = await t.environment.caller('live', { credits: 40 });
    const ids = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        t.environment.send(caller, { recipient: `+5511987652${100 + n}` }),
      ),
    );
    for (const id of ids) await t.environment.until(id, (row) => row.awaiting_sender);
    await buildSender(t.environment.db.database);
    for (const id of ids) await t.environment.until(id, 'delivered');
    expect(t.environment.tap.requests).toHaveLength(40);
  });
});
