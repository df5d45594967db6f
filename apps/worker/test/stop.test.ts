import { buildSender } from '@onecode/store/testing';
import { testRedisUrl } from '../../../test/harness/redisContents.js';
import type { Exit } from '../../../test/harness/startedProcess.js';
import { startTcpProxy, type TcpProxy } from '../../../test/harness/tcpProxy.js';
import { until } from '../../../test/harness/until.js';
import { House } from './house.js';
import { PROCESSES_MS_MAX, startWorkerProcess, untilServing, type WorkerProcess } from './workerProcess.js';

const STOP_MS_MAX = 10_000;
/** The delivery queue gives a lost connection two seconds. */
const WITHOUT_REDIS_MS_MAX = 5_000;

/** Asks a process to stop. @returns how it ended, and after how many milliseconds */
async function stopped(worker: WorkerProcess): Promise<Exit & { ms: number }> {
  const begin = performance.now();
  worker.signal('SIGTERM');
  const exit = await worker.exited;
  return { ...exit, ms: performance.now() - begin };
}

describe('a worker that is told to stop', () => {
  let house: House;
  let proxy: TcpProxy;
  let withoutRedis: Promise<Exit & { ms: number }>;
  beforeAll(async () => {
    house = await House.open();
    proxy = await startTcpProxy(testRedisUrl(), 'cut');
    const worker = await startWorkerProcess(house, { REDIS_URL: proxy.url });
    withoutRedis = stopped(worker);
  }, PROCESSES_MS_MAX);
  afterAll(async () => {
    await withoutRedis;
    await proxy.close();
    await house.close();
  });

  it(
    'while the provider hangs hands the send back, and another worker sends it',
    async () => {
      await buildSender(house.db.database);
      // A lease of more than a minute: without the hand-back, the other worker would come too late for this test.
      const env = { PROVIDER_TIMEOUT_MS: '60000' };
      const first = await startWorkerProcess(house, env);
      house.simulator.rules.add({ fault: { hang: true }, times: 1 });
      const caller = await house.caller();
      const id = await house.send(caller, { code: '042913' });
      await until('a call that hangs', () => house.simulator.requests()[0]?.outcome === 'hung');
      const second = await startWorkerProcess(house, env);
      await untilServing(second);

      const exit = stopped(first);
      await until('a process that drains', async () =>
        (await first.ask('/readyz')).text.includes('stopping'),
      );
      expect(await exit).toMatchObject({ code: 0, signal: null });
      expect((await exit).ms).toBeLessThan(STOP_MS_MAX);
      expect(first.log().at(-1)).toMatchObject({ msg: 'stopped' });

      expect(await house.until(id, 'delivered')).toMatchObject({
        attempts: 2,
        receipt_until: expect.any(Date),
      });
      expect((await house.attempts(id)).map(({ outcome }) => outcome)).toEqual(['unknown', 'accepted']);
      expect(house.simulator.messages()).toMatchObject([{ code: '042913' }]);
      expect(await house.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });

      // With nothing under way, a stop does not wait for anything.
      const idle = await stopped(second);
      expect(idle).toMatchObject({ code: 0, signal: null });
      expect(idle.ms).toBeLessThan(5_000);
    },
    PROCESSES_MS_MAX,
  );

  it(
    'though Redis never came does not wait for it',
    async () => {
      expect(await withoutRedis).toMatchObject({ code: 0, signal: null });
      expect((await withoutRedis).ms).toBeLessThan(WITHOUT_REDIS_MS_MAX);
    },
    PROCESSES_MS_MAX,
  );
});
