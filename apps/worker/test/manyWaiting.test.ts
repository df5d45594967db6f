import { buildSender } from '@onecode/store/testing';
import { keysOf } from '../../../test/harness/redisContents.js';
import { until } from '../../../test/harness/until.js';
import { House } from './house.js';
import { allSettled, makeSends, ringFor } from './manySends.js';
import { startWorkerProcess, untilServing, type WorkerProcess } from './workerProcess.js';

const SENDS = 10_000;
/** Sends that find out for themselves that there is no sender; the others have found out before. */
const LATE = 20;
/** How many of them leave: enough for a queue, and no more than a machine with other work sends in the time of a test. */
const LEAVING = 1_500;
const MS_MAX = 120_000;

describe('ten thousand sends that wait for a sender', () => {
  let house: House;
  let workers: WorkerProcess[];
  beforeAll(async () => {
    house = await House.open();
    house.simulator.rules.add({ fault: { acceptThenDrop: true } });
    const env = { WHATSAPP_API_URL: house.simulator.apiUrl, PROVIDER_TIMEOUT_MS: '60000' };
    workers = await Promise.all([startWorkerProcess(house, env), startWorkerProcess(house, env)]);
    for (const worker of workers) await untilServing(worker);
  }, MS_MAX);
  afterAll(async () => {
    for (const worker of workers) worker.signal('SIGTERM');
    for (const worker of workers) await worker.exited;
    await house.close();
  }, MS_MAX);

  it(
    'cost the queue nothing, and leave once each when a sender is there',
    async () => {
      await makeSends(house, SENDS - LATE, { awaitingSender: true });
      const late = await makeSends(house, LATE, { recipient: '+5511987650001' });
      await ringFor(house, late);
      for (const id of late) await house.until(id, (row) => row.awaiting_sender);
      await until('a queue without a job', async () => (await jobsUnderWay(house)) === 0);
      // What is left are the finished jobs of the late ones, and the queues' own keys.
      expect((await keysOf(house.redis, house.prefix)).length).toBeLessThan(3 * LATE);

      await endAllBut(house, LEAVING);
      await buildSender(house.db.database, { throughput: 1000 });
      await until('an end of all sends', () => allSettled(house), MS_MAX);
      expect(house.simulator.requests()).toHaveLength(LEAVING);
      expect(new Set(house.simulator.requests().map(({ to }) => to)).size).toBe(LEAVING - LATE + 1);
    },
    MS_MAX,
  );
});

/** Jobs of deliveries that are not finished. */
async function jobsUnderWay({ redis, prefix }: House): Promise<number> {
  const queue = `${prefix}:deliver`;
  const [waiting, active, delayed] = await Promise.all([
    redis.llen(`${queue}:wait`),
    redis.llen(`${queue}:active`),
    redis.zcard(`${queue}:delayed`),
  ]);
  return waiting + active + delayed;
}

/** Ends the oldest sends, so that so many are left. */
async function endAllBut({ db }: House, left: number): Promise<void> {
  await db.sql(
    `update sends set status = 'failed', failed_at = now(), failure_reason = 'attempts_exhausted', sealed_code = null,
       awaiting_sender = false, due_at = null, next_enqueue_at = null, version = version + 1
     where id in (select id from sends order by created_at, id limit ${SENDS} - $1::integer)`,
    [left],
  );
}
