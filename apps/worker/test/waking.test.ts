import { createRegistry, openDeliveryQueue } from '@onecode/runtime';
import { countAwaitingSends } from '@onecode/store';
import { buildSender, closedPort } from '@onecode/testing';
import { gaugeAwaitingSends } from '../src/metrics.js';
import { wake } from '../src/sweeper.js';
import { WorkerEnvironment } from './workerEnvironment.js';
import { makeSends } from './manySends.js';
import { startWorker } from './testWorker.js';

describe('sends that wait for a sender', () => {
  let environment: WorkerEnvironment;
  beforeEach(async () => {
    environment = await WorkerEnvironment.open();
    await makeSends(environment, 5, { awaitingSender: true });
    await buildSender(environment.db.database);
  });
  afterEach(() => environment.close());

  const waiting = (): Promise<number> => countAwaitingSends(environment.db.database);

  it('stay in their rows while Redis is down, and go out when it is up', async () => {
    const worker = await startWorker(environment, { sweepPauseMs: null });
    const redisUrl = `redis://127.0.0.1:${await closedPort()}`;
    const mute = openDeliveryQueue({
      redisUrl,
      prefix: environment.prefix,
      deliveryAttempts: 5,
      onError: () => {},
    });
    await wake({ ...worker.context, deliveryQueue: mute });
    expect(await waiting()).toBe(5);
    await mute.close();

    await wake(worker.context);
    for (const { id } of await environment.db.sql<{ id: string }>('select id from sends'))
      await environment.until(id, 'delivered');
    await worker.stop();
  });

  it('are counted in the metrics, which are served even while the database is down', async () => {
    const registry = createRegistry('worker');
    let count = waiting;
    gaugeAwaitingSends(registry, () => count());
    const metric = async (): Promise<string | undefined> =>
      /^onecode_awaiting_sender\S* (\S+)$/m.exec(await registry.metrics())?.[1];
    expect(await metric()).toBe('5');
    count = () => Promise.reject(new Error('the database is away'));
    expect(await metric()).toMatch(/^nan$/i);
  });
});
