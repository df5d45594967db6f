import { createRegistry, openDeliveryQueue } from '@onecode/runtime';
import { countAwaitingSends } from '@onecode/store';
import { buildSender } from '@onecode/store/testing';
import { closedPort } from '../../../test/harness/closedPort.js';
import { gaugeAwaitingSends } from '../src/metrics.js';
import { wake } from '../src/sweeper.js';
import { House } from './house.js';
import { makeSends } from './manySends.js';
import { startWorker } from './worker.js';

describe('sends that wait for a sender', () => {
  let house: House;
  beforeEach(async () => {
    house = await House.open();
    await makeSends(house, 5, { awaitingSender: true });
    await buildSender(house.db.database);
  });
  afterEach(() => house.close());

  const waiting = (): Promise<number> => countAwaitingSends(house.db.database);

  it('stay in their rows while Redis is away, and leave when it is there', async () => {
    const worker = await startWorker(house, { sweepPauseMs: null });
    const redisUrl = `redis://127.0.0.1:${await closedPort()}`;
    const mute = openDeliveryQueue({
      redisUrl,
      prefix: house.prefix,
      deliveryAttempts: 5,
      onError: () => {},
    });
    await wake({ ...worker.context, deliveryQueue: mute });
    expect(await waiting()).toBe(5);
    await mute.close();

    await wake(worker.context);
    for (const { id } of await house.db.sql<{ id: string }>('select id from sends'))
      await house.until(id, 'delivered');
    await worker.stop();
  });

  it('are counted for whoever reads the figures, also while the database is away', async () => {
    const registry = createRegistry('worker');
    let count = waiting;
    gaugeAwaitingSends(registry, () => count());
    const figure = async (): Promise<string | undefined> =>
      /^onecode_awaiting_sender\S* (\S+)$/m.exec(await registry.metrics())?.[1];
    expect(await figure()).toBe('5');
    count = () => Promise.reject(new Error('the database is away'));
    expect(await figure()).toMatch(/^nan$/i);
  });
});
