import { buildSender, until } from '@onecode/testing';
import type { Fault } from '@onecode/simulator';
import { explainError } from '@onecode/whatsapp';
import { Queue, type Job } from 'bullmq';
import { useWorker } from './testWorker.js';

/** What the queue board shows of a delivery: red only where somebody should look. */
describe('the job of a send', () => {
  const t = useWorker();
  let queue: Queue;
  beforeAll(() => {
    queue = new Queue('deliver', { connection: t.environment.redis, prefix: t.environment.prefix });
  });
  afterAll(() => queue.close());

  const jobOf = async (id: string, state: 'completed' | 'failed'): Promise<Job> =>
    until(`a ${state} job`, async () =>
      ((await queue.getJobs(state)) as Job[]).find((job) => (job.data as { sendId: string }).sendId === id),
    );
  const sendWith = async (fault: Fault): Promise<string> => {
    t.environment.simulator.rules.add({ fault });
    return t.environment.send(t.caller);
  };

  it('completes when the recipient is refused, with Meta’s code and its meaning', async () => {
    const job = await jobOf(await sendWith({ error: 131026 }), 'completed');
    expect(job.returnvalue).toBe(
      `rejected_by_provider: Meta 131026 (recipient): ${explainError(131026, 'recipient').meaning.english}`,
    );
    expect(job.failedReason).toBeUndefined();
  });

  it('fails when the provider refuses a request of ours', async () => {
    const job = await jobOf(await sendWith({ error: 131009 }), 'failed');
    expect(job.failedReason).toBe(
      `rejected_by_provider: Meta 131009 (config): ${explainError(131009, 'config').meaning.english}`,
    );
    expect(job.attemptsMade).toBe(1);
  });

  it('fails when a fault of the configuration leaves the send without a sender', async () => {
    const job = await jobOf(await sendWith({ error: 190 }), 'failed');
    expect(job.failedReason).toBe(
      `no_sender: Meta 190 (config): ${explainError(190, 'config').meaning.english}`,
    );
  });

  it('completes when another sender took the send after such a fault', async () => {
    await buildSender(t.environment.db.database);
    t.environment.simulator.rules.add({ fault: { error: 190 }, times: 1 });
    expect((await jobOf(await t.environment.send(t.caller), 'completed')).returnvalue).toBe('accepted');
  });

  it('completes when a sender cools down by itself and no other is there', async () => {
    const job = await jobOf(await sendWith({ error: 131057 }), 'completed');
    expect(job.returnvalue).toBe(
      `no_sender: Meta 131057 (sender): ${explainError(131057, 'sender').meaning.english}`,
    );
  });

  it('fails when the sender’s token cannot be opened', async () => {
    await t.environment.db.sql("update senders set sealed_token = '\\x00' where paused_at is null");
    const job = await jobOf(await t.environment.send(t.caller), 'failed');
    expect(job.failedReason).toBe('no_sender: the sender’s token cannot be opened');
  });

  it('fails when every attempt is used up, and says why each one was not the last', async () => {
    const meaning = explainError(131000, 'retry').meaning.english;
    const job = await jobOf(await sendWith({ error: 131000 }), 'failed');
    expect(job.failedReason).toBe(`attempts_exhausted: Meta 131000 (retry): ${meaning}`);
    expect((job.stacktrace ?? []).join('\n')).toContain(`RetryLater: retry: Meta 131000 (retry): ${meaning}`);
  });

  it('completes when the code expired before the send could go out', async () => {
    const id = await sendWith({ error: 131057 });
    await t.environment.until(id, (row) => row.awaiting_sender);
    await t.environment.age(id, 3_600);
    await t.environment.enqueue('live', id, 99);
    const job = await until('a job that found the end of the code', async () =>
      ((await queue.getJobs('completed')) as Job[]).find(
        ({ data, returnvalue }) =>
          (data as { sendId: string }).sendId === id &&
          ['expired_before_delivery', 'settled'].includes(returnvalue as string),
      ),
    );
    expect(job.failedReason).toBeUndefined();
    expect(await t.environment.until(id, 'failed')).toMatchObject({
      failure_reason: 'expired_before_delivery',
    });
  });
});
