import { buildSender } from '@onecode/store/testing';
import { until } from '../../../test/harness/until.js';
import { House } from './house.js';
import { PROCESSES_MS_MAX, startWorkerProcess, untilServing, type WorkerProcess } from './workerProcess.js';

const SENDS = 120;

describe('a fault of a sender that hits more than a hundred sends of two workers at once', () => {
  let house: House;
  let workers: WorkerProcess[];
  /** What holds requests back before they reach the provider. */
  let held: Promise<void> | null = null;
  beforeAll(async () => {
    house = await House.open(async () => {
      await held;
      return null;
    });
    // Calls are held until a hundred have come, which may take a busy machine longer than a provider usually gets.
    const env = { DELIVERY_CONCURRENCY: '100', PROVIDER_TIMEOUT_MS: '60000' };
    workers = await Promise.all([startWorkerProcess(house, env), startWorkerProcess(house, env)]);
    for (const worker of workers) await untilServing(worker);
  }, PROCESSES_MS_MAX);
  beforeEach(() => house.clear());
  afterAll(async () => {
    for (const worker of workers) worker.signal('SIGTERM');
    for (const worker of workers) await worker.exited;
    await house.close();
  });

  const counted = async (metric: string): Promise<number> => {
    const pages = await Promise.all(workers.map((worker) => worker.ask('/metrics')));
    return pages
      .flatMap(({ text }) => text.split('\n'))
      .filter((line) => line.startsWith(metric))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  };
  const said = (message: string): number =>
    workers.flatMap((worker) => worker.log()).filter(({ msg }) => msg === message).length;

  it.each([
    [
      'an expired token',
      190,
      'onecode_configuration_faults_total',
      'an operator has to act: a sender is kept back',
    ],
    ['an unregistered number', 133010, 'onecode_sender_pauses_total', 'a sender rests after a fault'],
  ])(
    'as %s does, raises one alert: one count and one line',
    async (_, error, metric, line) => {
      const before = await counted(metric);
      const broken = await buildSender(house.db.database, { throughput: 1000 });
      house.simulator.rules.add({ sender: broken.phoneNumberId, fault: { error } });
      let release = (): void => {};
      held = new Promise((resolve) => {
        release = resolve;
      });
      const caller = await house.caller('live', { credits: SENDS });
      const ids = await Promise.all(
        Array.from({ length: SENDS }, (__, n) =>
          house.send(caller, { recipient: `+5511987651${String(n + 100)}` }),
        ),
      );
      const hits = (): number =>
        house.tap.requests.filter(({ path }) => path.includes(broken.phoneNumberId)).length;
      await until('the calls that will meet the fault', () => hits() >= 100);
      release();
      held = null;
      for (const id of ids) await house.until(id, (row) => row.awaiting_sender);
      expect((await counted(metric)) - before).toBe(1);
      expect(said(line)).toBe(1);
      expect(await house.sender(broken.id)).toMatchObject({ consecutive_failures: 1, pause_seconds: 60 });
      await until(
        'all of them in the figures',
        async () => (await counted('onecode_awaiting_sender')) === 2 * SENDS,
      );

      const able = await buildSender(house.db.database, { throughput: 1000 });
      for (const id of ids)
        expect(await house.until(id, 'delivered')).toMatchObject({ sender_id: able.id, attempts: 1 });
    },
    PROCESSES_MS_MAX,
  );
});
