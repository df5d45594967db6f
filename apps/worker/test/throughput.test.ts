import { buildSender, until } from '@onecode/testing';
import { WorkerEnvironment } from './workerEnvironment.js';
import { allSettled, makeSends, enqueueAll, type ManySends } from './manySends.js';
import { startWorker, type TestWorker } from './testWorker.js';

const LEAVING_MS_MAX = 90_000;

describe('a burst of sends', () => {
  let environment: WorkerEnvironment;
  let workers: TestWorker[];
  beforeEach(async () => {
    environment = await WorkerEnvironment.open();
    environment.simulator.changeSettings({ senderLimit: true, pairLimit: true });
    // No receipts, which would only add load.
    environment.simulator.rules.add({ fault: { acceptThenDrop: true } });
    const env = { WHATSAPP_API_URL: environment.simulator.apiUrl, PROVIDER_TIMEOUT_MS: '30000' };
    workers = [await startWorker(environment, { env }), await startWorker(environment, { env })];
  });
  afterEach(async () => {
    for (const worker of workers) await worker.stop();
    await environment.close();
  });

  /** Makes sends, enqueues all at once, and waits until the provider has each of them once, without a throttle. */
  async function burst(count: number, wishes?: ManySends): Promise<void> {
    await enqueueAll(environment, await makeSends(environment, count, wishes));
    await until('the end of all sends', () => allSettled(environment), LEAVING_MS_MAX);
    expect(environment.simulator.requests().filter(({ outcome }) => outcome !== 'dropped')).toEqual([]);
    expect(environment.simulator.requests()).toHaveLength(count);
  }
  const sentBy = ({ phoneNumberId }: { phoneNumberId: string }): number =>
    environment.simulator.messages().filter(({ sender }) => sender === phoneNumberId).length;

  it(
    'never makes the provider throttle the sender',
    async () => {
      await buildSender(environment.db.database);
      await burst(300);
    },
    LEAVING_MS_MAX,
  );

  it(
    'goes out at the sender’s throughput',
    async () => {
      await buildSender(environment.db.database, { throughput: 20 });
      await burst(100);
      // A busy machine stalls for moments, and a slot that has passed is gone: the best three seconds count, and not to the last slot.
      const times = environment.simulator.requests().map(({ at }) => Date.parse(at));
      const within = times.map((from) => times.filter((at) => at >= from && at < from + 3_000).length);
      expect(Math.max(...within)).toBeGreaterThanOrEqual(3 * 20 * 0.6);
    },
    LEAVING_MS_MAX,
  );

  it(
    'to one recipient uses as many senders as it needs, and the provider never throttles a sender and recipient',
    async () => {
      const senders = [
        await buildSender(environment.db.database),
        await buildSender(environment.db.database),
      ];
      await burst(60, { recipient: '+5511987650001' });
      expect(Math.min(...senders.map(sentBy))).toBeGreaterThanOrEqual(60 - 45);
    },
    LEAVING_MS_MAX,
  );

  it(
    'is spread over the senders in proportion to their throughput',
    async () => {
      const throughputs = [10, 20, 40];
      const senders = [];
      for (const throughput of throughputs)
        senders.push(await buildSender(environment.db.database, { throughput }));
      await burst(140);
      for (const [nth, sender] of senders.entries()) {
        const share = 2 * throughputs[nth]!;
        expect(sentBy(sender)).toBeGreaterThan(share * 0.75);
        expect(sentBy(sender)).toBeLessThan(share * 1.25);
      }
    },
    LEAVING_MS_MAX,
  );
});
