import { readWaitingSends } from '@onecode/store';
import { buildSend, buildSender, until } from '@onecode/testing';
import { allSettled, enqueueAll, makeSends, type ManySends } from './manySends.js';
import { startWorker, type TestWorker } from './testWorker.js';
import { WorkerEnvironment } from './workerEnvironment.js';

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
      await burst(200);
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

const THROUGHPUT = 40;
/** Of one account: enough for four seconds. */
const FLOOD = 150;
/** What is promised ahead is a second's; the rest is for a busy machine. */
const AHEAD_MAX = 70;

describe('behind a flood', () => {
  let environment: WorkerEnvironment;
  let workers: TestWorker[];
  beforeAll(async () => {
    environment = await WorkerEnvironment.open();
    environment.simulator.changeSettings({ senderLimit: true });
    environment.simulator.rules.add({ fault: { acceptThenDrop: true } });
    const env = { WHATSAPP_API_URL: environment.simulator.apiUrl, PROVIDER_TIMEOUT_MS: '30000' };
    workers = [await startWorker(environment, { env }), await startWorker(environment, { env })];
  });
  afterAll(async () => {
    for (const worker of workers) await worker.stop();
    await environment.close();
  });

  const slotsSince = async (at: Date): Promise<number> => {
    const [row] = await environment.db.sql<{ slots: number }>(
      `select extract(epoch from free_at - $1)::float8 / (ceil(10000000.0 / (9 * $2::integer)) / 1000000) as slots from send_slots`,
      [at, THROUGHPUT],
    );
    return row!.slots;
  };

  it(
    'a quiet account’s send leaves long before the flood, and each slot is used once',
    async () => {
      const { database } = environment.db;
      const quiet = await environment.newCaller();
      await makeSends(environment, FLOOD, { awaitingSender: true });
      const sender = await buildSender(database, { throughput: THROUGHPUT });
      const [first] = await environment.db.sql<{ free_at: Date }>(
        `insert into send_slots (sender_id, free_at) values ($1, date_trunc('milliseconds', clock_timestamp() + interval '3 seconds'))
         on conflict (sender_id) do update set free_at = excluded.free_at returning free_at`,
        [sender.id],
      );
      await until('some of the flood', () => environment.simulator.requests().length >= 20);

      const id = await buildSend(database, quiet, { recipient: '+5521987654321' });
      // On a machine that stalls for longer than slots are promised ahead, it may go out at once.
      if (!(await environment.row(id)).awaiting_sender) await environment.enqueue('live', id);
      const before = environment.simulator.requests().length;
      await environment.until(id, (row) => row.sent_at !== null);
      const position = environment.simulator.requests().findIndex(({ to }) => to === '+5521987654321');
      expect(position).toBeLessThan(before + AHEAD_MAX);
      expect((await readWaitingSends(database)).waiting.forSender.count).toBeGreaterThan(0);

      await until(
        'the end of the flood',
        async () =>
          environment.simulator.requests().length > FLOOD &&
          (await readWaitingSends(database)).waiting.forSender.count === 0,
        LEAVING_MS_MAX,
      );
      const requests = environment.simulator.requests();
      expect(requests).toHaveLength(FLOOD + 1);
      expect(new Set(requests.map(({ to }) => to)).size).toBe(FLOOD + 1);
      // None was beyond the sender's limit, which the simulator keeps to.
      expect(requests.filter(({ outcome }) => outcome !== 'dropped')).toEqual([]);
      expect(await slotsSince(first!.free_at)).toBeGreaterThan(FLOOD + 0.99);
    },
    LEAVING_MS_MAX,
  );
});
