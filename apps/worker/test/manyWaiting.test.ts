import { buildSender, keysOf, until } from '@onecode/testing';
import { WorkerEnvironment } from './workerEnvironment.js';
import { allSettled, makeSends, enqueueAll } from './manySends.js';
import { startWorkerProcess, untilServing, type WorkerProcess } from './workerProcess.js';

const SENDS = 10_000;
/** Sends whose jobs find no sender; the others already wait for one. */
const LATE = 20;
/** How many go out: enough for a queue, and no more than a busy machine sends within a test. */
const LEAVING = 1_500;
const MS_MAX = 120_000;

describe('ten thousand sends that wait for a sender', () => {
  let environment: WorkerEnvironment;
  let workers: WorkerProcess[];
  beforeAll(async () => {
    environment = await WorkerEnvironment.open();
    environment.simulator.rules.add({ fault: { acceptThenDrop: true } });
    const env = { WHATSAPP_API_URL: environment.simulator.apiUrl, PROVIDER_TIMEOUT_MS: '60000' };
    workers = await Promise.all([startWorkerProcess(environment, env), startWorkerProcess(environment, env)]);
    for (const worker of workers) await untilServing(worker);
  }, MS_MAX);
  afterAll(async () => {
    for (const worker of workers) worker.signal('SIGTERM');
    for (const worker of workers) await worker.exited;
    await environment.close();
  }, MS_MAX);

  it(
    'need no job in the queue, and go out once each when there is a sender',
    async () => {
      await makeSends(environment, SENDS - LATE, { awaitingSender: true });
      const late = await makeSends(environment, LATE, { recipient: '+5511987650001' });
      await enqueueAll(environment, late);
      for (const id of late) await environment.until(id, (row) => row.awaiting_sender);
      await until('a queue without a job', async () => (await jobsUnderWay(environment)) === 0);
      // Only the finished jobs of the late ones and the queues' own keys are left.
      expect((await keysOf(environment.redis, environment.prefix)).length).toBeLessThan(3 * LATE);

      await endAllBut(environment, LEAVING);
      await buildSender(environment.db.database, { throughput: 1000 });
      await until('the end of all sends', () => allSettled(environment), MS_MAX);
      expect(environment.simulator.requests()).toHaveLength(LEAVING);
      expect(new Set(environment.simulator.requests().map(({ to }) => to)).size).toBe(LEAVING - LATE + 1);
    },
    MS_MAX,
  );
});

/** The number of unfinished delivery jobs. */
async function jobsUnderWay({ redis, prefix }: WorkerEnvironment): Promise<number> {
  const queue = `${prefix}:deliver`;
  const counts = await Promise.all([
    redis.llen(`${queue}:wait`),
    redis.llen(`${queue}:active`),
    redis.zcard(`${queue}:delayed`),
    redis.zcard(`${queue}:prioritized`),
  ]);
  return counts.reduce((sum, count) => sum + count);
}

/** Fails the oldest sends until this many are left. */
async function endAllBut({ db }: WorkerEnvironment, left: number): Promise<void> {
  await db.sql(
    `update sends set status = 'failed', failed_at = now(), failure_reason = 'attempts_exhausted', sealed_code = null,
       awaiting_sender = false, due_at = null, next_enqueue_at = null, version = version + 1
     where id in (select id from sends order by created_at, id limit ${SENDS} - $1::integer)`,
    [left],
  );
}
