import { buildSend, buildSender, startTcpProxy, testRedisUrl, until } from '@onecode/testing';
import { listHeartbeats, type LoopName } from '@onecode/store/operations';
import { PROCESSES_MS_MAX, stopped, STOP_MS_MAX, untilServing, useWorkerProcesses } from './workerProcess.js';

const { environment, start } = useWorkerProcesses();

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
});

describe('a stopping worker', () => {
  it(
    'leaves a call that hangs to another worker, which sends the code again after the lease',
    async () => {
      await buildSender(environment.db.database);
      const env = { PROVIDER_TIMEOUT_MS: '15000' };
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
});
