import { Queue, type Job } from 'bullmq';
import { buildSender } from '@onecode/store/testing';
import { closedPort } from '../../../test/harness/closedPort.js';
import { until } from '../../../test/harness/until.js';
import { House, type AttemptRow } from './house.js';
import { startWorker, type TestWorker } from './worker.js';

const BACKOFF_MS = 20;
/** PostgreSQL keeps whole milliseconds here. */
const ROUNDING_MS = 1;

const pausesMs = (attempts: AttemptRow[]): number[] =>
  attempts
    .slice(1)
    .map(({ started_at }, index) => started_at.getTime() - attempts[index]!.finished_at!.getTime());

/** The wait begins when the row is read, a little before the attempt's end is written. */
function expectSeconds(waitMs: number, seconds: number): void {
  expect(waitMs).toBeLessThanOrEqual(seconds * 1_000);
  expect(waitMs).toBeGreaterThan((seconds - 1) * 1_000);
}

describe('an answer that says "not now"', () => {
  let house: House;
  let worker: TestWorker;
  let queue: Queue;
  beforeAll(async () => {
    house = await House.open();
    // Without sweeps, which would enqueue as well: retries are the queue's own.
    worker = await startWorker(house, {
      env: { DELIVERY_BACKOFF_MS: String(BACKOFF_MS) },
      sweepPauseMs: null,
    });
    queue = new Queue('deliver', { connection: house.redis, prefix: house.prefix });
  });
  beforeEach(async () => {
    await worker.begin();
    await buildSender(house.db.database);
  });
  afterAll(async () => {
    await worker.stop();
    await queue.close();
    await house.close();
  });

  const jobsOf = async (id: string): Promise<Job[]> =>
    ((await queue.getJobs()) as Job[]).filter((job) => (job.data as { sendId: string }).sendId === id);

  /** Lets the wait of a send be over, as if its row were older. */
  const makeDue = async (id: string): Promise<void> => {
    await house.makeDue(id);
    await worker.sweep();
  };

  it('is followed by another try with the same code, and by success', async () => {
    house.simulator.rules.add({ fault: { error: 131000 }, times: 2 });
    const caller = await house.caller();
    const id = await house.send(caller, { code: '042913' });
    const row = await house.until(id, 'delivered');
    expect(row).toMatchObject({ attempts: 3, receipt_until: null, sealed_code: null });
    const attempts = await house.attempts(id);
    expect(attempts).toMatchObject([
      { outcome: 'retry', error_code: 131000 },
      { outcome: 'retry', error_code: 131000 },
      { outcome: 'accepted', error_code: null },
    ]);
    expect(house.simulator.messages()).toMatchObject([{ code: '042913', opaque: attempts[2]!.id }]);
    expect(await house.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
  });

  it.each([
    ['free quota', { freeQuota: 1, credits: 1 }, { free_quota: 1, credits: 1, returned: ['free_quota'] }],
    ['credit', { freeQuota: 0, credits: 1 }, { free_quota: 0, credits: 1, returned: ['credit'] }],
  ])('five times ends the send, and its unit of %s goes back', async (_, account, units) => {
    house.simulator.rules.add({ fault: { error: 131000 } });
    const caller = await house.caller('live', account);
    const id = await house.send(caller);
    const row = await house.until(id, 'failed');
    expect(row).toMatchObject({
      failure_reason: 'attempts_exhausted',
      sealed_code: null,
      due_at: null,
      next_enqueue_at: null,
      attempts: 5,
    });
    expect(await house.units(caller.accountId)).toEqual(units);
    await house.enqueue('live', id, 99);
    await until('a settled job', async () => (await jobsOf(id)).some((job) => job.returnvalue === 'settled'));
    expect(await house.calls(id)).toHaveLength(5);
  });

  it('is waited out for ever longer, and the board shows each try', async () => {
    house.simulator.rules.add({ fault: { error: 2 } });
    const id = await house.send(await house.caller());
    await until('a second attempt', async () => (await house.attempts(id)).length === 2);
    expect(await house.row(id)).toMatchObject({ status: 'sending', failure_reason: null });
    await house.until(id, 'failed');
    const pauses = pausesMs(await house.attempts(id));
    expect(pauses).toHaveLength(4);
    for (const [index, pauseMs] of pauses.entries())
      expect(pauseMs).toBeGreaterThanOrEqual(BACKOFF_MS * 2 ** index - ROUNDING_MS);
    // The queue wakes up to the millisecond, not at the next whole second.
    expect(Math.min(...pauses)).toBeLessThan(900);
    const failed = await until('a failed job', async () =>
      (await jobsOf(id)).find((job) => job.failedReason === 'attempts_exhausted'),
    );
    expect(failed.attemptsMade).toBe(5);
  });

  it.each([
    ['130429 with Retry-After', { error: 130429, http: 429, retryAfter: 7 }, 7, 130429],
    ['a bare 429 with Retry-After', { wrongBody: 'html' as const, http: 429, retryAfter: 9 }, 9, null],
    ['131056, the full pair window', { error: 131056 }, 4, 131056],
  ])('%s is obeyed', async (_, fault, seconds, errorCode) => {
    house.simulator.rules.add({ fault, times: 1 });
    const id = await house.send(await house.caller());
    const row = await house.until(id, ({ attempts, attempt_id }) => attempts === 1 && attempt_id === null);
    const [attempt] = await house.attempts(id);
    expect(attempt).toMatchObject({ outcome: 'retry', error_code: errorCode });
    const waitMs = row.due_at!.getTime() - attempt!.finished_at!.getTime();
    expectSeconds(waitMs, seconds);
    expect(row).toMatchObject({ status: 'sending', attempts: 1 });

    // Neither a job nor a sweep calls before that.
    await house.enqueue('live', id, 99);
    await until('a delayed job', async () =>
      (await queue.getDelayed()).some((job) => job.data.sendId === id),
    );
    await worker.sweep();
    expect(await house.calls(id)).toHaveLength(1);

    await makeDue(id);
    await house.until(id, 'delivered');
  });

  it('131056 twice is waited out for 16 seconds', async () => {
    house.simulator.rules.add({ fault: { error: 131056 }, times: 2 });
    const id = await house.send(await house.caller());
    await house.until(id, ({ attempts, attempt_id }) => attempts === 1 && attempt_id === null);
    await makeDue(id);
    const row = await house.until(id, ({ attempts, attempt_id }) => attempts === 2 && attempt_id === null);
    const [, second] = await house.attempts(id);
    const waitMs = row.due_at!.getTime() - second!.finished_at!.getTime();
    expectSeconds(waitMs, 16);
  });
});

describe('a provider that cannot be reached', () => {
  it('is no unknown outcome: five tries, and the unit goes back at once', async () => {
    const house = await House.open();
    const worker = await startWorker(house, {
      env: { WHATSAPP_API_URL: `http://127.0.0.1:${await closedPort()}/v25.0` },
    });
    await buildSender(house.db.database);
    const caller = await house.caller();
    const id = await house.send(caller);
    expect(await house.until(id, 'failed')).toMatchObject({
      failure_reason: 'attempts_exhausted',
      receipt_until: null,
      attempts: 5,
    });
    expect((await house.attempts(id)).map(({ outcome }) => outcome)).toEqual(Array(5).fill('retry'));
    expect(await house.units(caller.accountId)).toMatchObject({ free_quota: 1, returned: ['free_quota'] });
    await worker.stop();
    await house.close();
  });
});
