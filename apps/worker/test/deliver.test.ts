import { getEventListeners } from 'node:events';
import type { Fault } from '@onecode/simulator';
import { buildSender, until } from '@onecode/testing';
import { explainError, messageIdOf } from '@onecode/whatsapp';
import { Queue, type Job } from 'bullmq';
import { useWorker } from './testWorker.js';

const t = useWorker({ senders: 0 });

describe('a live send', () => {
  it('goes out as one request in the form that the provider documents', async () => {
    await buildSender(t.database, {
      phoneNumberId: '106540352242922',
      number: '+15550783881',
      token: 'a-token-of-its-own',
      template: 'our_template',
    });
    const id = await t.send(await t.newCaller(), {
      code: '042913',
      recipient: '+5511987650001',
    });
    await t.until(id, 'delivered');
    const calls = t.calls(id);
    expect(calls).toHaveLength(1);
    const [{ method, path, headers, body }] = calls as [(typeof calls)[0]];
    expect([method, path]).toEqual(['POST', '/v25.0/106540352242922/messages']);
    expect(headers).toMatchObject({
      authorization: 'Bearer a-token-of-its-own',
      'content-type': 'application/json',
    });
    expect(JSON.parse(body)).toMatchObject({
      to: '+5511987650001',
      template: { name: 'our_template', language: { code: 'pt_BR' } },
      biz_opaque_callback_data: `${id}.1`,
    });
    expect(body.split('"text":"042913"')).toHaveLength(3);
  });

  it.each([
    ['en', 'en', 'en'],
    ['en', 'en_US', 'en_US'],
  ] as const)('in %s by a sender of %s uses the template in %s', async (locale, english, language) => {
    await buildSender(t.database, { englishTemplateLanguage: english });
    const id = await t.send(await t.newCaller(), { locale });
    await t.until(id, 'delivered');
    expect(t.simulator.messages()).toMatchObject([{ language }]);
  });

  it('is routed, then sent, with its attempt recorded, and its code kept until it ends', async () => {
    t.simulator.rules.add({ fault: { acceptThenDrop: true } });
    const sender = await buildSender(t.database);
    const caller = await t.newCaller();
    const id = await t.send(caller);
    const row = await t.until(id, 'sent');
    expect(row).toMatchObject({
      channel: 'whatsapp',
      from_number: sender.number,
      sender_id: sender.id,
      sealed_code: expect.any(Buffer),
      attempts: 1,
      claimed_until: null,
      receipt_until: null,
      due_at: null,
      lost_at: null,
      delivered_at: null,
      read_at: null,
      failed_at: null,
    });
    expect(row.sent_at!.getTime()).toBeGreaterThanOrEqual(row.created_at.getTime());
    const [message] = t.simulator.messages();
    expect(await t.attempts(id)).toMatchObject([
      { sender_id: sender.id, outcome: 'accepted', error_code: null, message_id: messageIdOf(message!.id) },
    ]);
    expect(await t.units(caller.accountId)).toEqual({ free_quota: 0, credits: 0, returned: [] });
  });

  it.each(['held_for_quality_assessment', 'paused'] as const)(
    'that the provider accepts as %s is sent, and not sent again',
    async (messageStatus) => {
      await buildSender(t.database);
      t.simulator.rules.add({ fault: { messageStatus } });
      const id = await t.send(await t.newCaller());
      await t.until(id, 'delivered');
      expect(t.simulator.requests()).toHaveLength(1);
    },
  );

  it('is sent once, however often it is enqueued', async () => {
    await buildSender(t.database);
    t.simulator.rules.add({ fault: { latencyMs: 100 } });
    const id = await t.send(await t.newCaller());
    for (let times = 0; times < 20; times++) await t.enqueue('live', id);
    await t.until(id, 'delivered');
    await t.enqueue('live', id);
    const last = await t.send(await t.newCaller(), { recipient: '+5511987650002' });
    await t.until(last, 'delivered');
    expect(t.calls(id)).toHaveLength(1);
  });

  it('leaves no listener behind in a long-running worker', async () => {
    await buildSender(t.database);
    const caller = await t.newCaller('live', { credits: 30 });
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, n) => t.send(caller, { recipient: `+55119876510${10 + n}` })),
    );
    for (const id of ids)
      await t.until(id, (row) => row.status === 'delivered' && row.claimed_until === null);
    expect(getEventListeners(t.context.releaseClaims, 'abort')).toEqual([]);
  });
});

describe('a test send', () => {
  it('goes from queued to read through the sandbox, and nothing is sent', async () => {
    const caller = await t.newCaller('test');
    const id = await t.send(caller);
    const row = await t.until(id, 'read');
    expect(row).toMatchObject({
      channel: 'sandbox',
      from_number: null,
      sender_id: null,
      failed_at: null,
      due_at: null,
    });
    expect(row.sent_at).toEqual(row.read_at);
    expect(row.delivered_at).toEqual(row.read_at);
    expect(row.read_at!.getTime()).toBeGreaterThanOrEqual(row.created_at.getTime());
    expect(await t.attempts(id)).toEqual([]);
    expect(t.tap.requests).toEqual([]);
    expect(await t.units(caller.accountId)).toEqual({ free_quota: 1, credits: 0, returned: [] });
  });

  it('goes through when its job was lost', async () => {
    const caller = await t.newCaller('test');
    const id = await t.send(caller);
    await t.until(id, 'read');
    // An old row that was never enqueued.
    await t.sql(
      `update sends set status = 'queued', channel = null, sent_at = null, delivered_at = null, read_at = null,
         created_at = created_at - interval '3 seconds', due_at = now() - interval '1 minute', version = version + 1 where id = $1`,
      [id],
    );
    await t.until(id, 'read');
  });
});

/** What the queue board shows of a delivery: red only where somebody should look. */
describe('the job of a send', () => {
  let queue: Queue;
  beforeAll(() => {
    queue = new Queue('deliver', { connection: t.redis, prefix: t.prefix });
  });
  beforeEach(() => buildSender(t.database));
  afterAll(() => queue.close());

  const jobOf = async (id: string, state: 'completed' | 'failed'): Promise<Job> =>
    until(`a ${state} job`, async () =>
      ((await queue.getJobs(state)) as Job[]).find((job) => (job.data as { sendId: string }).sendId === id),
    );
  const sendWith = async (fault: Fault): Promise<string> => {
    t.simulator.rules.add({ fault });
    return t.send(t.caller);
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

  it('completes when a sender cools down by itself and no other is there', async () => {
    const job = await jobOf(await sendWith({ error: 131057 }), 'completed');
    expect(job.returnvalue).toBe(
      `no_sender: Meta 131057 (sender): ${explainError(131057, 'sender').meaning.english}`,
    );
  });

  it('fails when the sender’s token cannot be opened', async () => {
    await t.sql(
      "update senders set sealed_token = '\\x00' where id::text not in (select subject from stops)",
    );
    const job = await jobOf(await t.send(t.caller), 'failed');
    expect(job.failedReason).toBe('no_sender: the sender’s token cannot be opened');
  });

  it('fails when every attempt is used up, and says what the last one met', async () => {
    const meaning = explainError(131000, 'retry').meaning.english;
    const job = await jobOf(await sendWith({ error: 131000 }), 'failed');
    expect(job.failedReason).toBe(`attempts_exhausted: Meta 131000 (retry): ${meaning}`);
  });

  it('completes when the code expired before the send could go out', async () => {
    const id = await sendWith({ error: 131057 });
    await t.until(id, (row) => row.awaiting_sender);
    await t.age(id, 3_600);
    await t.enqueue('live', id);
    const job = await until('a job that found the end of the code', async () =>
      ((await queue.getJobs('completed')) as Job[]).find(
        ({ data, returnvalue }) =>
          (data as { sendId: string }).sendId === id &&
          ['expired_before_delivery', 'settled'].includes(returnvalue as string),
      ),
    );
    expect(job.failedReason).toBeUndefined();
    expect(await t.until(id, 'failed')).toMatchObject({
      failure_reason: 'expired_before_delivery',
    });
  });
});
