import pg from 'pg';
import { buildSend, buildSender, type TestCaller } from '@onecode/store/testing';
import { until } from '../../../test/harness/until.js';
import { House } from './house.js';
import { startWorker } from './worker.js';

describe('a send that waits for the time of its slot', () => {
  let house: House;
  let caller: TestCaller;
  beforeEach(async () => {
    house = await House.open();
    caller = await house.caller();
    await buildSender(house.db.database);
  });
  afterEach(() => house.close());

  /** The sender's next slot is nearly as far off as a send waits for one in a worker. */
  const slotsAreTaken = (): Promise<object[]> =>
    house.db.sql(
      `insert into send_slots (sender_id, free_at) select id, clock_timestamp() + interval '970 milliseconds' from senders
       on conflict (sender_id) do update set free_at = excluded.free_at`,
    );

  it('is claimed for longer than the wait, and goes when its time has come', async () => {
    const worker = await startWorker(house, { leaseMs: 10_000 });
    await slotsAreTaken();
    const id = await house.send(caller);
    const claimed = await house.until(id, (row) => row.attempt_id !== null);
    expect(house.tap.requests).toEqual([]);
    const [attempt] = await house.attempts(id);
    expect(claimed.due_at!.getTime() - attempt!.started_at.getTime()).toBeGreaterThan(10_000);
    await house.until(id, 'delivered');
    expect(house.tap.requests).toHaveLength(1);
    await worker.stop();
  });

  it('is handed back when its worker stops, uses up no attempt, and another worker sends it', async () => {
    const first = await startWorker(house);
    await slotsAreTaken();
    const id = await house.send(caller);
    await house.until(id, (row) => row.attempt_id !== null);
    await first.stop();
    expect(await house.row(id)).toMatchObject({
      status: 'sending',
      attempts: 0,
      attempt_id: null,
      receipt_until: null,
    });
    expect(house.tap.requests).toEqual([]);

    const second = await startWorker(house);
    expect(await house.until(id, 'delivered')).toMatchObject({ attempts: 1 });
    expect(await house.attempts(id)).toMatchObject([
      { outcome: 'retry', error_code: null, message_id: null },
      { outcome: 'accepted' },
    ]);
    expect(house.tap.requests).toHaveLength(1);
    expect(await house.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
    await second.stop();
  });

  it('is handed back without a call when its worker was held up long past that time', async () => {
    const id = await buildSend(house.db.database, caller);
    // The slot is taken, and the claim cannot be written while somebody else holds the row.
    const holder = new pg.Client({ connectionString: house.db.url });
    await holder.connect();
    await holder.query('begin');
    await holder.query('select from sends where id = $1 for no key update', [id]);
    const worker = await startWorker(house, { sweepPauseMs: null });
    await house.enqueue('live', id, 0);
    await until('a claim that waits for longer than a call may be late', async () => {
      // A transaction goes on seeing the activity that it saw first.
      await holder.query('select pg_stat_clear_snapshot()');
      const { rows } = await holder.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
           and query_start < clock_timestamp() - interval '2.6 seconds'`,
      );
      return rows.length > 0;
    });
    await holder.query('commit');
    await holder.end();

    expect(await house.until(id, 'delivered')).toMatchObject({ attempts: 1 });
    const [late, inTime] = await house.attempts(id);
    expect([late?.outcome, inTime?.outcome]).toEqual(['retry', 'accepted']);
    expect(house.tap.requests).toHaveLength(1);
    expect(house.tap.requests[0]!.body).toContain(inTime!.id);
    await worker.stop();
  });

  it('waits in its row, and not in the worker, when no slot comes so soon', async () => {
    const worker = await startWorker(house, { sweepPauseMs: null });
    await house.db.sql(
      `insert into send_slots (sender_id, free_at) select id, clock_timestamp() + interval '1 hour' from senders`,
    );
    const id = await house.send(caller);
    expect(await house.until(id, (row) => row.awaiting_sender)).toMatchObject({
      status: 'queued',
      attempts: 0,
    });
    expect(house.tap.requests).toEqual([]);
    await worker.stop();
  });
});
