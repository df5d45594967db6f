import { buildSender } from '@onecode/store/testing';
import { until } from '../../../test/harness/until.js';
import { House } from './house.js';
import { allSettled, makeSends, ringFor, type ManySends } from './manySends.js';
import { startWorker, type TestWorker } from './worker.js';

const LEAVING_MS_MAX = 90_000;

describe('a burst of sends', () => {
  let house: House;
  let workers: TestWorker[];
  beforeEach(async () => {
    house = await House.open();
    house.simulator.changeSettings({ senderLimit: true, pairLimit: true });
    // No receipts: the machine has enough to do.
    house.simulator.rules.add({ fault: { acceptThenDrop: true } });
    const env = { WHATSAPP_API_URL: house.simulator.apiUrl, PROVIDER_TIMEOUT_MS: '30000' };
    workers = [await startWorker(house, { env }), await startWorker(house, { env })];
  });
  afterEach(async () => {
    for (const worker of workers) await worker.stop();
    await house.close();
  });

  /** Makes so many sends, enqueues all at once and waits until the provider has them, each once and without a complaint. */
  async function burst(count: number, wishes?: ManySends): Promise<void> {
    await ringFor(house, await makeSends(house, count, wishes));
    await until('an end of all sends', () => allSettled(house), LEAVING_MS_MAX);
    expect(house.simulator.requests().filter(({ outcome }) => outcome !== 'dropped')).toEqual([]);
    expect(house.simulator.requests()).toHaveLength(count);
  }
  const sentBy = ({ phoneNumberId }: { phoneNumberId: string }): number =>
    house.simulator.messages().filter(({ sender }) => sender === phoneNumberId).length;

  it(
    'never makes the provider complain about the sender',
    async () => {
      await buildSender(house.db.database);
      await burst(300);
    },
    LEAVING_MS_MAX,
  );

  it(
    'leaves at the rate that the sender allows',
    async () => {
      await buildSender(house.db.database, { throughput: 20 });
      await burst(100);
      // A machine that has other work may stop for a moment: the best three seconds count.
      const times = house.simulator.requests().map(({ at }) => Date.parse(at));
      const within = times.map((from) => times.filter((at) => at >= from && at < from + 3_000).length);
      expect(Math.max(...within)).toBeGreaterThanOrEqual(3 * 20 * 0.85);
    },
    LEAVING_MS_MAX,
  );

  it(
    'to one recipient goes through as many senders as that takes, and the provider never complains about the pair',
    async () => {
      const senders = [await buildSender(house.db.database), await buildSender(house.db.database)];
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
        senders.push(await buildSender(house.db.database, { throughput }));
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
