import { pauseSender, resumeSender } from '@onecode/store';
import { buildSender, TEST_ACTOR } from '@onecode/store/testing';
import { useWorker } from './fixture.js';

describe('a send for which there is no sender', () => {
  const t = useWorker({ senders: 0 });

  const waitingSend = async (): Promise<string> => {
    const id = await t.house.send(t.caller);
    expect(await t.house.until(id, (row) => row.awaiting_sender)).toMatchObject({
      status: 'queued',
      channel: null,
      from_number: null,
      attempts: 0,
    });
    return id;
  };

  it('stays queued, without a call, whatever jobs and sweeps come', async () => {
    const id = await waitingSend();
    const before = await t.house.row(id);
    await t.house.enqueue('live', id, 99);
    for (let round = 0; round < 3; round++) await t.worker.sweep();
    expect(await t.house.row(id)).toEqual(before);
    expect(t.house.tap.requests).toEqual([]);
  });

  it('goes out when one is added', async () => {
    const id = await waitingSend();
    const sender = await buildSender(t.house.db.database);
    expect(await t.house.until(id, 'delivered')).toMatchObject({ from_number: sender.number, attempts: 1 });
  });

  it('goes out when one is resumed', async () => {
    const sender = await buildSender(t.house.db.database);
    await pauseSender(t.house.db.database, TEST_ACTOR, sender.id);
    const id = await waitingSend();
    await resumeSender(t.house.db.database, TEST_ACTOR, sender.id);
    await t.house.until(id, 'delivered');
  });

  it('goes out when the pause of one ends', async () => {
    const sender = await buildSender(t.house.db.database);
    await t.house.db.sql(
      "update senders set consecutive_failures = 1, paused_at = now(), paused_until = now() + interval '1 hour', pause_reason = 'a fault' where id = $1",
      [sender.id],
    );
    const id = await waitingSend();
    await t.house.db.sql("update senders set paused_until = now() - interval '1 second' where id = $1", [
      sender.id,
    ]);
    await t.house.until(id, 'delivered');
  });

  it('fails when its code has expired: the code is erased and the unit goes back', async () => {
    const id = await waitingSend();
    await t.house.age(id, 601);
    const row = await t.house.until(id, 'failed');
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
    expect(await t.house.units(t.caller.accountId)).toMatchObject({
      free_quota: 1,
      returned: ['free_quota'],
    });
    await buildSender(t.house.db.database);
    await t.worker.sweep();
    expect(await t.house.row(id)).toEqual(row);
    expect(t.house.tap.requests).toEqual([]);
  });

  it('is one of many: all go out once each', async () => {
    const caller = await t.house.caller('live', { credits: 40 });
    const ids = await Promise.all(
      Array.from({ length: 40 }, (_, n) => t.house.send(caller, { recipient: `+5511987652${100 + n}` })),
    );
    for (const id of ids) await t.house.until(id, (row) => row.awaiting_sender);
    await buildSender(t.house.db.database);
    for (const id of ids) await t.house.until(id, 'delivered');
    expect(t.house.tap.requests).toHaveLength(40);
  });
});
