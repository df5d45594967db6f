import { simulateDelivery } from '@onecode/domain';
import { listHeartbeats, type LoopName } from '@onecode/store/operations';
import { changeSend } from '@onecode/store/sends';
import { buildSend, buildSender, startTcpProxy, testRedisUrl, until, type Exit } from '@onecode/testing';
import { isNothingDue, makeSends } from './manySends.js';
import { WorkerEnvironment } from './workerEnvironment.js';
import { PROCESSES_MS_MAX, startWorkerProcess, untilServing, type WorkerProcess } from './workerProcess.js';

let environment: WorkerEnvironment;
const processes: WorkerProcess[] = [];
beforeAll(async () => {
  environment = await WorkerEnvironment.open();
});
beforeEach(() => environment.reset());
afterEach(async () => {
  for (const process of processes.splice(0)) await process.stop();
});
afterAll(() => environment.close());

const start = async (env: Record<string, string> = {}): Promise<WorkerProcess> => {
  const started = await startWorkerProcess(environment, env);
  processes.push(started);
  return started;
};

describe('a worker process', () => {
  it(
    'starts and delivers without Redis, and reports Redis as unavailable',
    async () => {
      await buildSender(environment.db.database);
      const proxy = await startTcpProxy(testRedisUrl(), 'cut');
      const worker = await start({ REDIS_URL: proxy.url });
      const id = await environment.send(await environment.newCaller());
      const test = await environment.send(await environment.newCaller('test'));
      const neverEnqueued = await buildSend(environment.db.database, await environment.newCaller());
      expect(await worker.ask('/livez')).toEqual({ status: 200, text: 'ok\n' });
      expect(await worker.ask('/readyz')).toEqual({
        status: 503,
        text: expect.stringMatching(/^not ready: redis\nredis: .*ECONNRE.*\n$/),
      });
      await environment.until(id, 'delivered');
      await environment.until(test, 'read');
      await environment.until(neverEnqueued, 'delivered');

      await proxy.open();
      await untilServing(worker);

      // The same holds after an outage.
      proxy.cut();
      await until('an outage', async () => (await worker.ask('/readyz')).status === 503);
      const next = await environment.send(await environment.newCaller(), { recipient: '+5511987650002' });
      await proxy.open();
      await environment.until(next, 'delivered');
      expect(await worker.stop()).toEqual({ code: 0, signal: null });
      await proxy.close();
    },
    PROCESSES_MS_MAX,
  );

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

const STOP_MS_MAX = 10_000;
/** The delivery queue waits up to two seconds for a lost connection. */
const WITHOUT_REDIS_MS_MAX = 5_000;

/** Stops a process with SIGTERM. @returns its exit, and the milliseconds that it took */
async function stopped(worker: WorkerProcess): Promise<Exit & { ms: number }> {
  const begin = performance.now();
  worker.signal('SIGTERM');
  const exit = await worker.exited;
  return { ...exit, ms: performance.now() - begin };
}

describe('a stopping worker', () => {
  it(
    'ends a call that hangs with an unknown outcome, and another worker sends the code again',
    async () => {
      await buildSender(environment.db.database);
      // A lease of more than a minute. If the call did not end, the other worker would take over too late for this test.
      const env = { PROVIDER_TIMEOUT_MS: '60000' };
      const first = await start(env);
      environment.simulator.rules.add({ fault: { hang: true }, times: 1 });
      const caller = await environment.newCaller();
      const id = await environment.send(caller, { code: '042913' });
      await until('a call that hangs', () => environment.simulator.requests()[0]?.outcome === 'hung');
      const second = await start(env);
      await untilServing(second);

      const exit = stopped(first);
      await until('a process that is stopping', async () =>
        (await first.ask('/readyz')).text.includes('stopping'),
      );
      expect(await exit).toMatchObject({ code: 0, signal: null });
      expect((await exit).ms).toBeLessThan(STOP_MS_MAX);
      expect(first.log().at(-1)).toMatchObject({ msg: 'stopped' });

      expect(await environment.until(id, 'delivered')).toMatchObject({
        attempts: 2,
        receipt_until: expect.any(Date),
      });
      expect((await environment.attempts(id)).map(({ outcome }) => outcome)).toEqual(['unknown', 'accepted']);
      expect(environment.simulator.messages()).toMatchObject([{ code: '042913' }]);
      expect(await environment.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });

      // A worker without work in progress stops immediately.
      const idle = await stopped(second);
      expect(idle).toMatchObject({ code: 0, signal: null });
      expect(idle.ms).toBeLessThan(5_000);
    },
    PROCESSES_MS_MAX,
  );

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
      // A run that ignored the signal would last for up to two seconds and make about 80 more calls.
      expect(environment.simulator.requests().length).toBeLessThan(callsBefore + 40);
      expect(await db.sql('select from sends where claimed_until is not null')).toEqual([]);
    },
    PROCESSES_MS_MAX,
  );

  it(
    'does not wait for Redis if it has never been connected',
    async () => {
      const proxy = await startTcpProxy(testRedisUrl(), 'cut');
      const exit = await stopped(await start({ REDIS_URL: proxy.url }));
      expect(exit).toMatchObject({ code: 0, signal: null });
      expect(exit.ms).toBeLessThan(WITHOUT_REDIS_MS_MAX);
      await proxy.close();
    },
    PROCESSES_MS_MAX,
  );

  it(
    'waits for a frozen Redis no longer than for a call',
    async () => {
      const proxy = await startTcpProxy(testRedisUrl());
      const worker = await start({ REDIS_URL: proxy.url });
      await untilServing(worker);
      proxy.freeze();
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
    'stop for a loop with failing runs, and continue afterwards',
    async () => {
      const { db } = environment;
      await db.sql('truncate processes');
      await start();
      const isLate = async (name: LoopName): Promise<boolean> =>
        (await listHeartbeats(db.database)).some(({ loop, secondsAgo }) => loop === name && secondsAgo > 8);
      await db.sql('alter table provider_reports rename to away');
      await until('a late sweep', () => isLate('sweep'), LATE_MS_MAX);
      expect(await isLate('deliver')).toBe(false);
      await db.sql('alter table away rename to provider_reports');
      await until('another sweep', async () => !(await isLate('sweep')));
    },
    PROCESSES_MS_MAX,
  );

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
