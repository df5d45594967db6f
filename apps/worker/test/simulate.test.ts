import { House } from './house.js';
import { startWorker, type TestWorker } from './worker.js';

describe('a test send', () => {
  let house: House;
  let worker: TestWorker;
  beforeAll(async () => {
    house = await House.open();
    worker = await startWorker(house);
  });
  afterAll(async () => {
    await worker.stop();
    await house.close();
  });

  it('goes from queued to read through the sandbox, and nothing is sent', async () => {
    const caller = await house.caller('test');
    const id = await house.send(caller);
    const row = await house.until(id, 'read');
    expect(row).toMatchObject({
      channel: 'sandbox',
      from_number: null,
      sender_id: null,
      failed_at: null,
      due_at: null,
    });
    expect(row.sent_at).toEqual(row.read_at);
    expect(row.delivered_at).toEqual(row.read_at);
    expect(row.read_at!.getTime()).toBeGreaterThanOrEqual(row.created_at.getTime());
    expect(await house.attempts(id)).toEqual([]);
    expect(house.tap.requests).toEqual([]);
    expect(await house.units(caller.accountId)).toEqual({ free_quota: 1, credits: 0, returned: [] });
  });

  it('is ended once, however often it is enqueued', async () => {
    const caller = await house.caller('test');
    const id = await house.send(caller);
    const first = await house.until(id, 'read');
    for (const version of [1, 2, 3]) await house.enqueue('test', id, version);
    const other = await house.send(caller);
    await house.until(other, 'read');
    expect(await house.row(id)).toEqual(first);
  });

  it('is ended by the sweep when its job was lost', async () => {
    const caller = await house.caller('test');
    const id = await house.send(caller);
    await house.until(id, 'read');
    // As if it had never been enqueued: an old row that waits.
    await house.db.sql(
      `update sends set status = 'queued', channel = null, sent_at = null, delivered_at = null, read_at = null,
         due_at = now() - interval '1 minute', next_enqueue_at = now() - interval '1 minute', version = version + 1 where id = $1`,
      [id],
    );
    await house.until(id, 'read');
  });
});
