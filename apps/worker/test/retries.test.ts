import { buildSender, closedPort, until } from '@onecode/testing';
import { Queue, type Job } from 'bullmq';
import { WorkerEnvironment, type AttemptRow } from './workerEnvironment.js';
import { startWorker, type TestWorker } from './testWorker.js';

const BACKOFF_MS = 20;
/** These columns keep whole milliseconds. */
const ROUNDING_MS = 1;

const pausesMs = (attempts: AttemptRow[]): number[] =>
  attempts
    .slice(1)
    .map(({ started_at }, index) => started_at.getTime() - attempts[index]!.finished_at!.getTime());

describe('an answer that says "not now"', () => {
  let environment: WorkerEnvironment;
  let worker: TestWorker;
  let queue: Queue;
  beforeAll(async () => {
    environment = await WorkerEnvironment.open();
    // Without sweeps, which would enqueue as well: the queue itself makes the retries.
    worker = await startWorker(environment, {
      env: { DELIVERY_BACKOFF_MS: String(BACKOFF_MS) },
      sweepPauseMs: null,
    });
    queue = new Queue('deliver', { connection: environment.redis, prefix: environment.prefix });
  });
  beforeEach(async () => {
    await worker.reset();
    await buildSender(environment.db.database);
  });
  afterAll(async () => {
    await worker.stop();
    await queue.close();
    await environment.close();
  });

  const jobsOf = async (id: string): Promise<Job[]> =>
    ((await queue.getJobs()) as Job[]).filter((job) => (job.data as { sendId: string }).sendId === id);

  it('is followed by a retry with the same code, which succeeds', async () => {
    environment.simulator.rules.add({ fault: { error: 131000 }, times: 2 });
    const caller = await environment.caller();
    const id = await environment.send(caller, { code: '042913' });
    const row = await environment.until(id, 'delivered');
    expect(row).toMatchObject({ attempts: 3, receipt_until: null, sealed_code: null });
    const attempts = await environment.attempts(id);
    expect(attempts).toMatchObject([
      { outcome: 'retry', error_code: 131000 },
      { outcome: 'retry', error_code: 131000 },
      { outcome: 'accepted', error_code: null },
    ]);
    expect(environment.simulator.messages()).toMatchObject([{ code: '042913', opaque: attempts[2]!.id }]);
    expect(await environment.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
  });

  it.each([
    ['free quota', { freeQuota: 1, credits: 1 }, { free_quota: 1, credits: 1, returned: ['free_quota'] }],
    ['credit', { freeQuota: 0, credits: 1 }, { free_quota: 0, credits: 1, returned: ['credit'] }],
  ])('five times ends the send, and its unit of %s is refunded', async (_, account, units) => {
    environment.simulator.rules.add({ fault: { error: 131000 } });
    const caller = await environment.caller('live', account);
    const id = await environment.send(caller);
    const row = await environment.until(id, 'failed');
    expect(row).toMatchObject({
      failure_reason: 'attempts_exhausted',
      sealed_code: null,
      due_at: null,
      next_enqueue_at: null,
      attempts: 5,
    });
    expect(await environment.units(caller.accountId)).toEqual(units);
    await environment.enqueue('live', id, 99);
    await until('a settled job', async () => (await jobsOf(id)).some((job) => job.returnvalue === 'settled'));
    expect(await environment.calls(id)).toHaveLength(5);
  });

  it('is followed by ever longer waits, and the board shows each attempt', async () => {
    environment.simulator.rules.add({ fault: { error: 2 } });
    const id = await environment.send(await environment.caller());
    await until('a second attempt', async () => (await environment.attempts(id)).length === 2);
    expect(await environment.row(id)).toMatchObject({ status: 'sending', failure_reason: null });
    await environment.until(id, 'failed');
    const pauses = pausesMs(await environment.attempts(id));
    expect(pauses).toHaveLength(4);
    for (const [index, pauseMs] of pauses.entries())
      expect(pauseMs).toBeGreaterThanOrEqual(BACKOFF_MS * 2 ** index - ROUNDING_MS);
    // The queue wakes up to the millisecond, not at the next whole second.
    expect(Math.min(...pauses)).toBeLessThan(900);
    const failed = await until('a failed job', async () =>
      (await jobsOf(id)).find((job) => job.failedReason?.startsWith('attempts_exhausted')),
    );
    expect(failed.attemptsMade).toBe(5);
  });
});

describe('a provider that cannot be reached', () => {
  it('is no unknown outcome: five attempts, and an immediate refund', async () => {
    const environment = await WorkerEnvironment.open();
    const worker = await startWorker(environment, {
      env: { WHATSAPP_API_URL: `http://127.0.0.1:${await closedPort()}/v25.0` },
    });
    await buildSender(environment.db.database);
    const caller = await environment.caller();
    const id = await environment.send(caller);
    expect(await environment.until(id, 'failed')).toMatchObject({
      failure_reason: 'attempts_exhausted',
      receipt_until: null,
      attempts: 5,
    });
    expect((await environment.attempts(id)).map(({ outcome }) => outcome)).toEqual(Array(5).fill('retry'));
    expect(await environment.units(caller.accountId)).toMatchObject({
      free_quota: 1,
      returned: ['free_quota'],
    });
    await worker.stop();
    await environment.close();
  });
});
