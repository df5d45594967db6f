import { simulateDelivery } from '@onecode/domain';
import { changeSend } from '@onecode/store/sends';
import { buildSend, buildSender, startTcpProxy, testRedisUrl, until } from '@onecode/testing';
import { isNothingDue, makeSends } from './manySends.js';
import { PROCESSES_MS_MAX, stopped, STOP_MS_MAX, untilServing, useWorkerProcesses } from './workerProcess.js';

const { environment, start } = useWorkerProcesses();

describe('a worker process', () => {
  it(
    'logs one alert for many sends with the same fault',
    async () => {
      const { phoneNumberId, id: broken } = await buildSender(environment.db.database);
      const able = await buildSender(environment.db.database);
      environment.simulator.rules.add({ sender: phoneNumberId, fault: { error: 190, latencyMs: 50 } });
      const caller = await environment.newCaller('live', { credits: 20 });
      const ids = await Promise.all(Array.from({ length: 20 }, () => environment.send(caller)));
      const worker = await start();
      for (const id of ids)
        expect(await environment.until(id, 'delivered')).toMatchObject({ sender_id: able.id });
      const alerts = worker.log().filter(({ msg }) => msg === 'sender blocked');
      expect(alerts).toMatchObject([{ level: 'error', sender_id: broken, error_code: 190, scope: 'token' }]);
    },
    PROCESSES_MS_MAX,
  );
});

describe('a stopping worker', () => {
  it(
    'has recorded heartbeats during a backlog of due sends, and leaves the backlog to other workers',
    async () => {
      const { db } = environment;
      await db.sql('truncate processes');
      await buildSender(db.database, { throughput: 1_000 });
      environment.simulator.rules.add({ fault: { latencyMs: 100 } });
      await makeSends(environment, 1_000);
      const worker = await start({ DELIVERY_CONCURRENCY: '5' });
      const runs = () => db.sql("select from processes where deliver_at > started_at + interval '1 second'");
      await until('a run of the loop', async () => (await runs()).length > 0);
      expect(await isNothingDue(environment)).toBe(false);

      const callsBefore = environment.simulator.requests().length;
      expect(callsBefore).toBeGreaterThan(10);
      const exit = await stopped(worker);
      expect(exit.ms).toBeLessThan(5_000);
      expect(worker.log().at(-1)).toMatchObject({ msg: 'stopped' });
      expect(environment.simulator.requests().length).toBeLessThan(callsBefore + 40);
      expect(await db.sql('select from sends where claimed_until is not null')).toEqual([]);
    },
    PROCESSES_MS_MAX,
  );

  it.each(['cut', 'frozen'])(
    'waits for an unavailable Redis no longer than for a call: %s',
    async (fault) => {
      const proxy = await startTcpProxy(testRedisUrl());
      const worker = await start({ REDIS_URL: proxy.url });
      await untilServing(worker);
      if (fault === 'cut') proxy.cut();
      else proxy.freeze();
      const exit = await stopped(worker);
      expect(exit).toMatchObject({ code: 0, signal: null });
      expect(exit.ms).toBeLessThan(STOP_MS_MAX);
      expect(worker.log().at(-1)).toMatchObject({ msg: 'stopped' });
      await proxy.close();
    },
    PROCESSES_MS_MAX,
  );
});

describe('the heartbeats of a worker’s loops', () => {
  /** A worker reports its heartbeats every five seconds. */
  const LATE_MS_MAX = 30_000;

  it(
    'are recorded repeatedly by every loop, and one of the loops aggregates finished days',
    async () => {
      const { db } = environment;
      await db.sql('truncate processes');
      const id = await buildSend(db.database, await environment.newCaller('test'));
      await changeSend(db.database, { id }, simulateDelivery);
      await db.sql(
        `update sends set id = overlay(first_id_at(created_at - interval '20 days')::text placing right(id::text, 17) from 20)::uuid,
           created_at = created_at - interval '20 days', expires_at = expires_at - interval '20 days' where id = $1`,
        [id],
      );
      await start();
      const laterRuns = () =>
        db.sql(
          `select from processes
           where least(deliver_at, sweep_at, breaker_at) > started_at + interval '4 seconds' and clean_up_at is not null`,
        );
      await until('another run of the loops', async () => (await laterRuns()).length > 0, LATE_MS_MAX);
      const days = () => db.sql<{ created: number }>('select created from daily_statistics');
      await until('the day', async () => (await days()).length > 0);
      expect(await days()).toEqual([{ created: 1 }]);
    },
    PROCESSES_MS_MAX,
  );
});
