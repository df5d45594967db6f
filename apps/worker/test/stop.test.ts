import { buildSender, startTcpProxy, testRedisUrl, until, type Exit, type TcpProxy } from '@onecode/testing';
import { WorkerEnvironment } from './workerEnvironment.js';
import { PROCESSES_MS_MAX, startWorkerProcess, untilServing, type WorkerProcess } from './workerProcess.js';

const STOP_MS_MAX = 10_000;
/** The delivery queue gives a lost connection two seconds. */
const WITHOUT_REDIS_MS_MAX = 5_000;

/** Stops a process with SIGTERM. @returns how it ended, and after how many milliseconds */
async function stopped(worker: WorkerProcess): Promise<Exit & { ms: number }> {
  const begin = performance.now();
  worker.signal('SIGTERM');
  const exit = await worker.exited;
  return { ...exit, ms: performance.now() - begin };
}

describe('a worker that stops', () => {
  let environment: WorkerEnvironment;
  let proxy: TcpProxy;
  let withoutRedis: Promise<Exit & { ms: number }>;
  beforeAll(async () => {
    environment = await WorkerEnvironment.open();
    proxy = await startTcpProxy(testRedisUrl(), 'cut');
    const worker = await startWorkerProcess(environment, { REDIS_URL: proxy.url });
    withoutRedis = stopped(worker);
  }, PROCESSES_MS_MAX);
  afterAll(async () => {
    await withoutRedis;
    await proxy.close();
    await environment.close();
  });

  it(
    'while the provider hangs releases the send, and another worker sends it',
    async () => {
      await buildSender(environment.db.database);
      // A lease of more than a minute: unless it is released, the other worker takes over too late for this test.
      const env = { PROVIDER_TIMEOUT_MS: '60000' };
      const first = await startWorkerProcess(environment, env);
      environment.simulator.rules.add({ fault: { hang: true }, times: 1 });
      const caller = await environment.caller();
      const id = await environment.send(caller, { code: '042913' });
      await until('a call that hangs', () => environment.simulator.requests()[0]?.outcome === 'hung');
      const second = await startWorkerProcess(environment, env);
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

      // With nothing under way, a stop waits for nothing.
      const idle = await stopped(second);
      expect(idle).toMatchObject({ code: 0, signal: null });
      expect(idle.ms).toBeLessThan(5_000);
    },
    PROCESSES_MS_MAX,
  );

  it(
    'without ever having reached Redis does not wait for it',
    async () => {
      expect(await withoutRedis).toMatchObject({ code: 0, signal: null });
      expect((await withoutRedis).ms).toBeLessThan(WITHOUT_REDIS_MS_MAX);
    },
    PROCESSES_MS_MAX,
  );
});
