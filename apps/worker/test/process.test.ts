import { buildSend, buildSender, startProcess, startTcpProxy, testRedisUrl, until } from '@onecode/testing';
import { WorkerEnvironment } from './workerEnvironment.js';
import { PROCESSES_MS_MAX, startWorkerProcess, untilServing, type WorkerProcess } from './workerProcess.js';

describe('a worker process', () => {
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

  it(
    'names each missing variable on a line of its own, and ends with exit code 1',
    async () => {
      const started = startProcess('apps/worker/dist/main.js', {});
      expect(await started.exited).toEqual({ code: 1, signal: null });
      expect(started.output().trim().split('\n').toSorted()).toEqual([
        'worker: DATABASE_URL is missing',
        'worker: REDIS_URL is missing',
        'worker: SECRET_KEY is missing',
        'worker: WHATSAPP_API_URL is missing',
      ]);
      expect(started.stderr()).toBe(started.output());
    },
    PROCESSES_MS_MAX,
  );

  it(
    'names each malformed variable, and repeats no value',
    async () => {
      const values = {
        DATABASE_URL: 'mysql://root:hunter2@db',
        REDIS_URL: 'not-an-address',
        SECRET_KEY: 'c2hvcnQta2V5',
        WHATSAPP_API_URL: 'ftp://provider',
        DELIVERY_ATTEMPTS: '-3',
        DELIVERY_BACKOFF_MS: '0x10',
        PROVIDER_TIMEOUT_MS: '9',
        DELIVERY_CONCURRENCY: '1.5',
        METRICS_PORT: '70000',
        LOG_LEVEL: 'loud',
      };
      const started = startProcess('apps/worker/dist/main.js', values);
      expect(await started.exited).toEqual({ code: 1, signal: null });
      const lines = started.output().trim().split('\n');
      expect(lines.map((line) => line.split(' ').slice(0, 2).join(' ')).toSorted()).toEqual(
        Object.keys(values)
          .map((name) => `worker: ${name}`)
          .toSorted(),
      );
      for (const value of Object.values(values).filter(({ length }) => length > 2))
        expect(started.output()).not.toContain(value);
    },
    PROCESSES_MS_MAX,
  );

  it(
    'starts without Redis, reports it, and sends what waits as soon as Redis is up',
    async () => {
      await buildSender(environment.db.database);
      const proxy = await startTcpProxy(testRedisUrl(), 'cut');
      const worker = await start({ REDIS_URL: proxy.url });
      const id = await environment.send(await environment.caller());
      const test = await environment.send(await environment.caller('test'));
      const neverEnqueued = await buildSend(environment.db.database, await environment.caller());
      expect(await worker.ask('/livez')).toEqual({ status: 200, text: 'ok\n' });
      expect(await worker.ask('/readyz')).toEqual({
        status: 503,
        text: expect.stringMatching(/^not ready: redis\nredis: Redis is not connected: connect ECONNRE.*\n$/),
      });
      expect(await environment.row(id)).toMatchObject({ status: 'queued' });

      await proxy.open();
      await environment.until(id, 'delivered');
      await environment.until(test, 'read');
      await environment.until(neverEnqueued, 'delivered');
      await untilServing(worker);

      // And again after an outage.
      proxy.cut();
      await until('an outage', async () => (await worker.ask('/readyz')).status === 503);
      const next = await environment.send(await environment.caller(), { recipient: '+5511987650002' });
      await proxy.open();
      await environment.until(next, 'delivered');
      expect(await worker.stop()).toEqual({ code: 0, signal: null });
      await proxy.close();
    },
    PROCESSES_MS_MAX,
  );

  it(
    'that loses the database after the provider’s answer sends nothing twice: the receipt settles the attempt',
    async () => {
      await buildSender(environment.db.database);
      const proxy = await startTcpProxy(environment.db.url);
      const worker = await start({ DATABASE_URL: proxy.url });
      environment.simulator.rules.add({ fault: { latencyMs: 500 } });
      const caller = await environment.caller();
      const id = await environment.send(caller);
      await until('a call', async () => (await environment.calls(id)).length === 1);
      proxy.cut();
      await until('a job that could not write', () =>
        worker.log().find(({ msg, queue }) => msg === 'a job failed' && queue === 'deliver'),
      );
      expect(await environment.row(id)).toMatchObject({ status: 'sending' });
      await proxy.open();
      expect(await environment.until(id, 'delivered')).toMatchObject({ attempts: 1, sealed_code: null });
      expect(await environment.attempts(id)).toMatchObject([{ outcome: 'accepted' }]);
      expect(await environment.calls(id)).toHaveLength(1);
      expect(await environment.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
      expect(await worker.stop()).toEqual({ code: 0, signal: null });
      await proxy.close();
    },
    PROCESSES_MS_MAX,
  );

  it(
    'logs one alert for many sends with the same fault',
    async () => {
      const [broken, able] = [
        await buildSender(environment.db.database),
        await buildSender(environment.db.database),
      ];
      environment.simulator.rules.add({ sender: broken.phoneNumberId, fault: { error: 190, latencyMs: 50 } });
      const caller = await environment.caller('live', { credits: 20 });
      const ids = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          environment.send(caller, { recipient: `+5511987653${100 + n}` }),
        ),
      );
      const worker = await start();
      for (const id of ids)
        expect(await environment.until(id, 'delivered')).toMatchObject({ sender_id: able.id });
      const alerts = worker.log().filter(({ msg }) => msg?.startsWith('an operator has to act'));
      expect(alerts).toMatchObject([
        { level: 'error', sender_id: broken.id, error_code: 190, scope: 'token' },
      ]);
      expect((await worker.ask('/metrics')).text).toMatch(
        /^onecode_configuration_faults_total\{[^}]*scope="token"[^}]*\} 1$/m,
      );
    },
    PROCESSES_MS_MAX,
  );
});
