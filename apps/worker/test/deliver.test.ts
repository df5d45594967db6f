import { getEventListeners } from 'node:events';
import { buildSender } from '@onecode/testing';
import { useWorker } from './testWorker.js';

describe('a live send', () => {
  const t = useWorker({ senders: 0 });

  it('goes out as one request in the form that the provider documents', async () => {
    await buildSender(t.environment.db.database, {
      phoneNumberId: '106540352242922',
      number: '+15550783881',
      token: 'a-token-of-its-own',
      template: 'our_template',
    });
    const id = await t.environment.send(await t.environment.caller(), {
      code: '042913',
      recipient: '+5511987650001',
    });
    await t.environment.until(id, 'delivered');
    const [attempt] = await t.environment.attempts(id);
    const calls = await t.environment.calls(id);
    expect(calls).toHaveLength(1);
    const [{ method, path, headers, body }] = calls as [(typeof calls)[0]];
    expect([method, path]).toEqual(['POST', '/v25.0/106540352242922/messages']);
    expect(headers).toMatchObject({
      authorization: 'Bearer a-token-of-its-own',
      'content-type': 'application/json',
    });
    const parameters = [{ type: 'text', text: '042913' }];
    expect(JSON.parse(body)).toEqual({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: '+5511987650001',
      type: 'template',
      template: {
        name: 'our_template',
        language: { code: 'pt_BR' },
        components: [
          { type: 'body', parameters },
          { type: 'button', sub_type: 'url', index: '0', parameters },
        ],
      },
      biz_opaque_callback_data: attempt!.id,
    });
  });

  it.each([
    ['pt-BR', 'en', 'pt_BR'],
    ['en', 'en', 'en'],
    ['en', 'en_US', 'en_US'],
  ] as const)('in %s by a sender of %s uses the template in %s', async (locale, english, language) => {
    await buildSender(t.environment.db.database, { englishTemplateLanguage: english });
    const id = await t.environment.send(await t.environment.caller(), { locale });
    await t.environment.until(id, 'delivered');
    expect(t.environment.simulator.messages()).toMatchObject([{ language }]);
  });

  it('is routed, then sent, with its attempt recorded, and its code kept until it ends', async () => {
    t.environment.simulator.rules.add({ fault: { acceptThenDrop: true } });
    const sender = await buildSender(t.environment.db.database);
    const caller = await t.environment.caller();
    const id = await t.environment.send(caller);
    const row = await t.environment.until(id, 'sent');
    expect(row).toMatchObject({
      channel: 'whatsapp',
      from_number: sender.number,
      sender_id: sender.id,
      sealed_code: expect.any(Buffer),
      attempts: 1,
      attempt_id: null,
      receipt_until: null,
      due_at: null,
      next_enqueue_at: null,
      lost_at: null,
      delivered_at: null,
      read_at: null,
      failed_at: null,
    });
    expect(row.sent_at!.getTime()).toBeGreaterThanOrEqual(row.created_at.getTime());
    const [message] = t.environment.simulator.messages();
    expect(await t.environment.attempts(id)).toMatchObject([
      { sender_id: sender.id, outcome: 'accepted', error_code: null, message_id: message!.id },
    ]);
    expect(await t.environment.units(caller.accountId)).toEqual({ free_quota: 0, credits: 0, returned: [] });
  });

  it.each(['held_for_quality_assessment', 'paused'] as const)(
    'that the provider accepts as %s is sent, and not sent again',
    async (messageStatus) => {
      await buildSender(t.environment.db.database);
      t.environment.simulator.rules.add({ fault: { messageStatus } });
      const id = await t.environment.send(await t.environment.caller());
      await t.environment.until(id, 'delivered');
      expect(t.environment.simulator.requests()).toHaveLength(1);
    },
  );

  it('is sent once, however often it is enqueued', async () => {
    await buildSender(t.environment.db.database);
    t.environment.simulator.rules.add({ fault: { latencyMs: 100 } });
    const id = await t.environment.send(await t.environment.caller());
    for (let version = 1; version <= 20; version++) await t.environment.enqueue('live', id, version);
    await t.environment.until(id, 'delivered');
    await t.environment.enqueue('live', id, 21);
    const last = await t.environment.send(await t.environment.caller(), { recipient: '+5511987650002' });
    await t.environment.until(last, 'delivered');
    expect(await t.environment.calls(id)).toHaveLength(1);
  });

  it('leaves no listener behind in a long-running worker', async () => {
    await buildSender(t.environment.db.database);
    const caller = await t.environment.caller('live', { credits: 30 });
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        t.environment.send(caller, { recipient: `+55119876510${10 + n}` }),
      ),
    );
    for (const id of ids)
      await t.environment.until(id, (row) => row.status === 'delivered' && row.attempt_id === null);
    expect(getEventListeners(t.worker.context.releaseClaims, 'abort')).toEqual([]);
  });
});
