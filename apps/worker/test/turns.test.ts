import { readWaitingSends } from '@onecode/store';
import { buildSend, buildSender, until } from '@onecode/testing';
import { makeSends } from './manySends.js';
import { WorkerEnvironment } from './workerEnvironment.js';
import { PROCESSES_MS_MAX, startWorkerProcess, type WorkerProcess } from './workerProcess.js';

const THROUGHPUT = 40;
/** Of one account: enough for eight seconds. */
const FLOOD = 300;
/** What is promised ahead is a second's; the rest is for a busy machine. */
const AHEAD_MAX = 100;

describe.each([2, 4])('behind a flood, with %i workers', (count) => {
  let environment: WorkerEnvironment;
  let workers: WorkerProcess[];
  beforeAll(async () => {
    environment = await WorkerEnvironment.open();
    environment.simulator.changeSettings({ senderLimit: true });
    environment.simulator.rules.add({ fault: { acceptThenDrop: true } });
    const env = { WHATSAPP_API_URL: environment.simulator.apiUrl, PROVIDER_TIMEOUT_MS: '30000' };
    workers = await Promise.all(Array.from({ length: count }, () => startWorkerProcess(environment, env)));
  }, PROCESSES_MS_MAX);
  afterAll(async () => {
    for (const worker of workers) worker.signal('SIGTERM');
    for (const worker of workers) await worker.exited;
    await environment.close();
  }, PROCESSES_MS_MAX);

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
      const quiet = await environment.caller();
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
      if (!(await environment.row(id)).awaiting_sender) await environment.enqueue('live', id, 0);
      const before = environment.simulator.requests().length;
      await environment.until(id, (row) => row.sent_at !== null);
      const position = environment.simulator.requests().findIndex(({ to }) => to === '+5521987654321');
      expect(position).toBeLessThan(before + AHEAD_MAX);
      expect((await readWaitingSends(database)).forSender.count).toBeGreaterThan(0);

      await until(
        'the end of the flood',
        async () =>
          environment.simulator.requests().length > FLOOD &&
          (await readWaitingSends(database)).forSender.count === 0,
        PROCESSES_MS_MAX,
      );
      const requests = environment.simulator.requests();
      expect(requests).toHaveLength(FLOOD + 1);
      expect(new Set(requests.map(({ to }) => to)).size).toBe(FLOOD + 1);
      // None was beyond the sender's limit, which the simulator keeps to.
      expect(requests.filter(({ outcome }) => outcome !== 'dropped')).toEqual([]);
      expect(await slotsSince(first!.free_at)).toBeGreaterThan(FLOOD + 0.99);
    },
    PROCESSES_MS_MAX,
  );
});
