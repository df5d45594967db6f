import { buildSend, buildSender, until, type TestCaller } from '@onecode/testing';
import { WorkerEnvironment } from './workerEnvironment.js';
import { startWorker } from './testWorker.js';

describe('a send that waits for the time of its send slot', () => {
  let environment: WorkerEnvironment;
  let caller: TestCaller;
  beforeEach(async () => {
    environment = await WorkerEnvironment.open();
    caller = await environment.caller();
    await buildSender(environment.db.database);
  });
  afterEach(() => environment.close());

  /** Moves the sender's next send slot almost as far away as a worker waits for one. */
  const slotsAreTaken = (): Promise<object[]> =>
    environment.db.sql(
      `insert into send_slots (sender_id, free_at) select id, clock_timestamp() + interval '970 milliseconds' from senders
       on conflict (sender_id) do update set free_at = excluded.free_at`,
    );

  /** A send that waited for such a slot and was woken for it. */
  async function wokenSend(): Promise<string> {
    const id = await buildSend(environment.db.database, caller);
    await environment.db.sql(`update sends set promised_until = now() + interval '1 minute'`);
    await environment.enqueue('live', id, 0);
    return id;
  }

  it('is claimed for longer than the wait, and goes out at the time of the slot', async () => {
    const worker = await startWorker(environment, { leaseMs: 10_000 });
    await slotsAreTaken();
    const id = await wokenSend();
    const claimed = await environment.until(id, (row) => row.attempt_id !== null);
    expect(environment.tap.requests).toEqual([]);
    await environment.until(id, 'delivered');
    expect(environment.tap.requests).toHaveLength(1);
    const [attempt, ...others] = await environment.attempts(id);
    expect(others).toEqual([]);
    expect(claimed.due_at!.getTime()).toBeGreaterThan(attempt!.finished_at!.getTime());
    await worker.stop();
  });

  it('is released when its worker stops, uses up no attempt, and another worker sends it', async () => {
    const first = await startWorker(environment);
    await slotsAreTaken();
    const id = await wokenSend();
    await environment.until(id, (row) => row.attempt_id !== null);
    await first.stop();
    expect(await environment.row(id)).toMatchObject({
      status: 'sending',
      attempts: 0,
      attempt_id: null,
      receipt_until: null,
    });
    expect(environment.tap.requests).toEqual([]);

    const second = await startWorker(environment);
    expect(await environment.until(id, 'delivered')).toMatchObject({ attempts: 1 });
    expect(await environment.attempts(id)).toMatchObject([
      { outcome: 'retry', error_code: null, message_id: null },
      { outcome: 'accepted' },
    ]);
    expect(environment.tap.requests).toHaveLength(1);
    expect(await environment.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
    await second.stop();
  });

  it('is released without a call when its worker is delayed long past that time', async () => {
    const id = await buildSend(environment.db.database, caller);
    // The worker takes the slot, and cannot write the claim while this connection holds the row.
    const holder = await environment.db.connect();
    await holder.query('begin');
    await holder.query('select from sends where id = $1 for no key update', [id]);
    const worker = await startWorker(environment, { sweepPauseMs: null });
    await environment.enqueue('live', id, 0);
    await until('a claim that waits for longer than a call may be late', async () => {
      // Within a transaction, PostgreSQL repeats its first snapshot of the activity unless it is cleared.
      await holder.query('select pg_stat_clear_snapshot()');
      const { rows } = await holder.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
           and query_start < clock_timestamp() - interval '2.6 seconds'`,
      );
      return rows.length > 0;
    });
    await holder.query('commit');
    await holder.end();

    expect(await environment.until(id, 'delivered')).toMatchObject({ attempts: 1 });
    const [late, inTime] = await environment.attempts(id);
    expect([late?.outcome, inTime?.outcome]).toEqual(['retry', 'accepted']);
    expect(environment.tap.requests).toHaveLength(1);
    expect(environment.tap.requests[0]!.body).toContain(inTime!.id);
    await worker.stop();
  });

  it('waits in its row rather than in the worker when no slot is that near', async () => {
    const worker = await startWorker(environment, { sweepPauseMs: null });
    await environment.db.sql(
      `insert into send_slots (sender_id, free_at) select id, clock_timestamp() + interval '1 hour' from senders`,
    );
    const id = await environment.send(caller);
    expect(await environment.until(id, (row) => row.awaiting_sender)).toMatchObject({
      status: 'queued',
      attempts: 0,
    });
    expect(environment.tap.requests).toEqual([]);
    await worker.stop();
  });
});
