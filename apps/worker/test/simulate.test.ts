import { WorkerEnvironment } from './workerEnvironment.js';
import { startWorker, type TestWorker } from './testWorker.js';

describe('a test send', () => {
  let environment: WorkerEnvironment;
  let worker: TestWorker;
  beforeAll(async () => {
    environment = await WorkerEnvironment.open();
    worker = await startWorker(environment);
  });
  afterAll(async () => {
    await worker.stop();
    await environment.close();
  });

  it('goes from queued to read through the sandbox, and nothing is sent', async () => {
    const caller = await environment.caller('test');
    const id = await environment.send(caller);
    const row = await environment.until(id, 'read');
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
    expect(await environment.attempts(id)).toEqual([]);
    expect(environment.tap.requests).toEqual([]);
    expect(await environment.units(caller.accountId)).toEqual({ free_quota: 1, credits: 0, returned: [] });
  });

  it('is simulated once, however often it is enqueued', async () => {
    const caller = await environment.caller('test');
    const id = await environment.send(caller);
    const first = await environment.until(id, 'read');
    for (const version of [1, 2, 3]) await environment.enqueue('test', id, version);
    const other = await environment.send(caller);
    await environment.until(other, 'read');
    expect(await environment.row(id)).toEqual(first);
  });

  it('is enqueued by the sweeper when its job was lost', async () => {
    const caller = await environment.caller('test');
    const id = await environment.send(caller);
    await environment.until(id, 'read');
    // An old row that was never enqueued.
    await environment.db.sql(
      `update sends set status = 'queued', channel = null, sent_at = null, delivered_at = null, read_at = null,
         due_at = now() - interval '1 minute', next_enqueue_at = now() - interval '1 minute', version = version + 1 where id = $1`,
      [id],
    );
    await environment.until(id, 'read');
  });
});
