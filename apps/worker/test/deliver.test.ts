import { UNREADABLE_TOKEN } from '@onecode/domain';
import type { Fault } from '@onecode/simulator';
import { buildSend, buildSender, until } from '@onecode/testing';
import { messageIdOf } from '@onecode/whatsapp';
import { Queue, type Job } from 'bullmq';
import { useWorker } from './testWorker.js';

const t = useWorker({ senders: 0 });

describe('a live send', () => {
  it('is sent in one request, records its attempt, and keeps its code until it ends', async () => {
    const sender = await buildSender(t.database, {
      token: 'a-token-of-its-own',
      template: 'our_template',
      englishTemplateLanguage: 'en_US',
    });
    t.simulator.rules.add({ fault: { acceptThenDrop: true } });
    const caller = await t.newCaller();
    const id = await t.send(caller, { code: '042913', recipient: '+5511987650001', locale: 'en' });
    const row = await t.until(id, 'sent');
    const calls = t.calls(id);
    expect(calls).toHaveLength(1);
    const [{ method, path, headers, body }] = calls as [(typeof calls)[0]];
    expect([method, path]).toEqual(['POST', `/v25.0/${sender.phoneNumberId}/messages`]);
    expect(headers).toMatchObject({ authorization: 'Bearer a-token-of-its-own' });
    expect(JSON.parse(body)).toMatchObject({
      to: '+5511987650001',
      template: { name: 'our_template', language: { code: 'en_US' } },
      biz_opaque_callback_data: `${id}.1`,
    });
    expect(body.split('"text":"042913"')).toHaveLength(3);
    expect(row).toMatchObject({
      channel: 'whatsapp',
      from_number: sender.number,
      sender_id: sender.id,
      encrypted_code: expect.any(Buffer),
      attempts: 1,
      claimed_until: null,
      due_at: null,
    });
    const [message] = t.simulator.messages();
    expect(await t.attempts(id)).toMatchObject([
      { sender_id: sender.id, outcome: 'accepted', error_code: null, message_id: messageIdOf(message!.id) },
    ]);
    expect(await t.units(caller.accountId)).toEqual({ free_quota: 0, credits: 0, returned: [] });
  });

  it('is sent once if it is enqueued several times', async () => {
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
});

describe('a test send', () => {
  it('changes from queued to read in the sandbox, without a message or a latency measurement', async () => {
    const caller = await t.newCaller('test');
    const measured = () => t.count('onecode_delivery_seconds');
    const before = await measured();
    const id = await t.send(caller);
    expect(await t.until(id, 'read')).toMatchObject({ channel: 'sandbox', sender_id: null, due_at: null });
    expect(await t.attempts(id)).toEqual([]);
    expect(t.tap.requests).toEqual([]);
    expect(await t.units(caller.accountId)).toEqual({ free_quota: 1, credits: 0, returned: [] });
    expect(await measured()).toBe(before);
  });
});

describe('the job of a send', () => {
  let queue: Queue;
  beforeAll(() => {
    queue = new Queue('deliver', { connection: t.redis, prefix: t.prefix });
  });
  beforeEach(() => buildSender(t.database));
  afterAll(() => queue.close());

  const jobOf = async (id: string): Promise<Job> =>
    until('a completed job', async () =>
      ((await queue.getJobs('completed')) as Job[]).find(
        (job) => (job.data as { sendId: string }).sendId === id,
      ),
    );
  const sendWith = async (fault: Fault): Promise<string> => {
    t.simulator.rules.add({ fault });
    return t.send(t.caller);
  };

  it.each([
    ['accepted', 'Meta accepts the message', { acceptThenDrop: true }],
    ['rejected_by_provider', 'Meta rejects the recipient (131026)', { error: 131026 }],
    ['rejected_by_provider', 'Meta rejects the request (131009)', { error: 131009 }],
    ['retry', 'Meta rejects the token (190)', { error: 190 }],
    ['retry', 'the sender cools down (131057)', { error: 131057 }],
    ['retry', 'Meta has an internal error (131000)', { error: 131000 }],
  ] as const)('completes with %s when %s', async (outcome, _, fault) => {
    const job = await jobOf(await sendWith(fault));
    expect(job.returnvalue).toEqual({ outcome });
  });

  it('completes with attempts_exhausted when its call used the last attempt', async () => {
    t.simulator.rules.add({ fault: { error: 131000 } });
    const id = await buildSend(t.database, t.caller);
    await t.sql('update sends set attempts = 4, version = version + 1 where id = $1', [id]);
    await t.enqueue('live', id);
    expect((await jobOf(id)).returnvalue).toEqual({ outcome: 'attempts_exhausted' });
  });

  it('completes with retry and blocks the sender when the token cannot be decrypted', async () => {
    const sender = await buildSender(t.database);
    await t.sql(
      "update senders set encrypted_token = '\\x00' where id::text not in (select subject from sender_blocks)",
    );
    const job = await jobOf(await t.send(t.caller));
    expect(job.returnvalue).toEqual({ outcome: 'retry' });
    // Another try of the send may use this sender.
    const block = await until('a block', async () => (await t.blocks(sender.id))[0]);
    expect(block.reason).toBe(UNREADABLE_TOKEN.reason);
  });

  it('completes when the code expires before the send', async () => {
    const id = await sendWith({ error: 131057 });
    // The queue accepts no second job for the send while the first one is active.
    await jobOf(id);
    await t.until(id, (row) => row.phase === 'waiting');
    await t.age(id, 3_600);
    await t.enqueue('live', id);
    const job = await until('a job that found the end of the code', async () =>
      ((await queue.getJobs('completed')) as Job[]).find(
        ({ data, returnvalue }) =>
          (data as { sendId: string }).sendId === id &&
          ['expired_before_delivery', 'done'].includes((returnvalue as { outcome: string }).outcome),
      ),
    );
    expect(job.failedReason).toBeUndefined();
    expect(await t.until(id, 'failed')).toMatchObject({
      failure_reason: 'expired_before_delivery',
    });
  });
});
