import { readWaitingSends } from '@onecode/store';
import { buildSender, until } from '@onecode/testing';
import { WorkerEnvironment } from './workerEnvironment.js';
import { PROCESSES_MS_MAX, startWorkerProcess, untilServing, type WorkerProcess } from './workerProcess.js';

const SENDS = 120;

describe('a sender’s fault that hits more than a hundred sends of two workers at once', () => {
  let environment: WorkerEnvironment;
  let workers: WorkerProcess[];
  /** Until this resolves, no request reaches the provider. */
  let held: Promise<void> | null = null;
  beforeAll(async () => {
    environment = await WorkerEnvironment.open(async () => {
      await held;
      return null;
    });
    // The test holds the calls until a hundred have come, which on a busy machine may take longer than the usual time limit.
    const env = { DELIVERY_CONCURRENCY: '100', PROVIDER_TIMEOUT_MS: '60000' };
    workers = await Promise.all([startWorkerProcess(environment, env), startWorkerProcess(environment, env)]);
    for (const worker of workers) await untilServing(worker);
  }, PROCESSES_MS_MAX);
  beforeEach(() => environment.reset());
  afterAll(async () => {
    for (const worker of workers) worker.signal('SIGTERM');
    for (const worker of workers) await worker.exited;
    await environment.close();
  });

  const counted = async (metric: string): Promise<number> => {
    const pages = await Promise.all(workers.map((worker) => worker.ask('/metrics')));
    return pages
      .flatMap(({ text }) => text.split('\n'))
      .filter((line) => line.startsWith(metric))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  };
  const linesWith = (message: string): number =>
    workers.flatMap((worker) => worker.log()).filter(({ msg }) => msg === message).length;

  it.each([
    [
      'an expired token',
      190,
      'onecode_configuration_faults_total',
      'an operator has to act: a sender is stopped',
    ],
    ['an unregistered number', 133010, 'onecode_sender_pauses_total', 'a sender cools down after a fault'],
  ])(
    'such as %s raises one alert: one count and one log line',
    async (_, error, metric, line) => {
      const before = await counted(metric);
      const broken = await buildSender(environment.db.database, { throughput: 1000 });
      environment.simulator.rules.add({ sender: broken.phoneNumberId, fault: { error } });
      let release = (): void => {};
      held = new Promise((resolve) => {
        release = resolve;
      });
      const caller = await environment.caller('live', { credits: SENDS });
      const ids = await Promise.all(
        Array.from({ length: SENDS }, (__, n) =>
          environment.send(caller, { recipient: `+5511987651${String(n + 100)}` }),
        ),
      );
      const hits = (): number =>
        environment.tap.requests.filter(({ path }) => path.includes(broken.phoneNumberId)).length;
      await until('the calls that will meet the fault', () => hits() >= 100);
      release();
      held = null;
      for (const id of ids) await environment.until(id, (row) => row.awaiting_sender);
      expect((await counted(metric)) - before).toBe(1);
      expect(linesWith(line)).toBe(1);
      expect(await environment.sender(broken.id)).toMatchObject({
        consecutive_failures: 1,
        pause_seconds: 60,
      });
      expect((await readWaitingSends(environment.db.database)).forSender.count).toBe(SENDS);

      const able = await buildSender(environment.db.database, { throughput: 1000 });
      for (const id of ids)
        expect(await environment.until(id, 'delivered')).toMatchObject({ sender_id: able.id, attempts: 1 });
    },
    PROCESSES_MS_MAX,
  );
});
