import { pauseSender, resumeSender } from '@onecode/store';
import { buildSender, type TestCaller } from '@onecode/store/testing';
import { House } from './house.js';
import { startWorker, type TestWorker } from './worker.js';

describe('a send for which there is no sender', () => {
  let house: House;
  let worker: TestWorker;
  let caller: TestCaller;
  beforeAll(async () => {
    house = await House.open();
    worker = await startWorker(house);
  });
  beforeEach(async () => {
    await worker.begin();
    caller = await house.caller();
  });
  afterAll(async () => {
    await worker.stop();
    await house.close();
  });

  const waitingSend = async (): Promise<string> => {
    const id = await house.send(caller);
    expect(await house.until(id, (row) => row.awaiting_sender)).toMatchObject({
      status: 'queued',
      channel: null,
      from_number: null,
      attempts: 0,
    });
    return id;
  };

  it('stays queued, without a call, whatever rings and sweeps come', async () => {
    const id = await waitingSend();
    const before = await house.row(id);
    await house.ring('live', id, 99);
    for (let round = 0; round < 3; round++) await worker.sweep();
    expect(await house.row(id)).toEqual(before);
    expect(house.tap.requests).toEqual([]);
  });

  it('goes out when one is added', async () => {
    const id = await waitingSend();
    const sender = await buildSender(house.db.database);
    expect(await house.until(id, 'delivered')).toMatchObject({ from_number: sender.number, attempts: 1 });
  });

  it('goes out when one is resumed', async () => {
    const sender = await buildSender(house.db.database);
    await pauseSender(house.db.database, sender.id);
    const id = await waitingSend();
    await resumeSender(house.db.database, sender.id);
    await house.until(id, 'delivered');
  });

  it('goes out when the pause of one ends', async () => {
    const sender = await buildSender(house.db.database);
    await house.db.sql(
      "update senders set faults = 1, paused_at = now(), paused_until = now() + interval '1 hour', pause_reason = 'a fault' where id = $1",
      [sender.id],
    );
    const id = await waitingSend();
    await house.db.sql("update senders set paused_until = now() - interval '1 second' where id = $1", [
      sender.id,
    ]);
    await house.until(id, 'delivered');
  });

  it('fails when its code has expired: the code is erased and the unit goes back', async () => {
    const id = await waitingSend();
    await house.age(id, 601);
    const row = await house.until(id, 'failed');
    expect(row).toMatchObject({
      failure_reason: 'expired_before_delivery',
      channel: null,
      from_number: null,
      code_box: null,
      awaiting_sender: false,
      due_at: null,
      ring_at: null,
    });
    expect(row.failed_at!.getTime()).toBeGreaterThanOrEqual(row.expires_at.getTime());
    expect(await house.units(caller.accountId)).toMatchObject({ free_quota: 1, returned: ['free_quota'] });
    await buildSender(house.db.database);
    await worker.sweep();
    expect(await house.row(id)).toEqual(row);
    expect(house.tap.requests).toEqual([]);
  });

  it('is one of many: all go out once each', async () => {
    caller = await house.caller('live', { credits: 40 });
    const ids = await Promise.all(
      Array.from({ length: 40 }, (_, n) => house.send(caller, { recipient: `+5511987652${100 + n}` })),
    );
    for (const id of ids) await house.until(id, (row) => row.awaiting_sender);
    await buildSender(house.db.database);
    for (const id of ids) await house.until(id, 'delivered');
    expect(house.tap.requests).toHaveLength(40);
  });
});
