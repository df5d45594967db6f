import { openDeliveryQueue } from '@onecode/runtime';
import { readWaitingSends } from '@onecode/store';
import { buildSender, closedPort } from '@onecode/testing';
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

  const waiting = async (): Promise<number> =>
    (await readWaitingSends(environment.db.database)).forSender.count;

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
});
