import { until } from '@onecode/testing';
import { signatureOf } from '../src/index.js';
import {
  APP_SECRET,
  bodyOf,
  closeAll,
  send,
  SENDER,
  start,
  startBoth,
  startReceiver,
  type Json,
} from './sending.js';

afterEach(closeAll);

describe('receipts', () => {
  it('are sent, then delivered, in the documented form', async () => {
    const { simulator, receiver } = await startBoth();
    const { json } = await send(simulator);
    await until('2 webhooks', () => receiver.webhooks.length === 2);
    const payload = JSON.parse(receiver.webhooks[0]!.rawBody);
    expect(payload).toEqual({
      object: 'whatsapp_business_account',
      entry: [
        {
          id: '102290129340398',
          changes: [
            {
              value: {
                messaging_product: 'whatsapp',
                metadata: { display_phone_number: '15552242922', phone_number_id: SENDER },
                statuses: [
                  {
                    id: json.messages[0].id,
                    status: 'sent',
                    timestamp: expect.stringMatching(/^\d{10}$/),
                    recipient_id: '551187654321',
                    biz_opaque_callback_data: 'att_01J9ZK',
                    pricing: {
                      billable: true,
                      pricing_model: 'PMP',
                      type: 'regular',
                      category: 'authentication',
                    },
                  },
                ],
              },
              field: 'messages',
            },
          ],
        },
      ],
    });
    expect(receiver.words).toEqual(['sent', 'delivered']);
    expect(receiver.webhooks[0]!.headers['content-type']).toBe('application/json');
  });

  it('leave out opaque data that the request had not', async () => {
    const { simulator, receiver } = await startBoth();
    const body: Record<string, unknown> = bodyOf();
    delete body['biz_opaque_callback_data'];
    await send(simulator, body);
    await until('2 statuses', () => receiver.statuses.length === 2);
    expect(Object.keys(receiver.statuses[0]!)).not.toContain('biz_opaque_callback_data');
  });

  it('come when their delays are over, read only when one is set', async () => {
    const { simulator, receiver } = await startBoth({
      delays: { sentMs: 50, deliveredMs: 150, readMs: 250 },
    });
    const began = performance.now();
    await send(simulator);
    await until('3 webhooks', () => receiver.webhooks.length === 3);
    expect(receiver.words).toEqual(['sent', 'delivered', 'read']);
    const [sent, delivered, read] = receiver.webhooks.map(({ at }) => at - began);
    expect(sent).toBeGreaterThanOrEqual(45);
    expect(delivered).toBeGreaterThanOrEqual(145);
    expect(read).toBeGreaterThanOrEqual(245);
  });

  it('tell of reading without pricing, once, when the person reads', async () => {
    const { simulator, receiver } = await startBoth();
    const { json } = await send(simulator);
    await until('2 statuses', () => receiver.words.length === 2);
    const { id } = json.messages[0];
    expect(await simulator.markRead(id)).toBe(true);
    expect(receiver.statuses.at(-1)).toMatchObject({ id, status: 'read' });
    expect(Object.keys(receiver.statuses.at(-1)!)).not.toContain('pricing');
    expect(await simulator.markRead(id)).toBe(false);
    expect(await simulator.markRead('wamid.unknown')).toBe(false);
    expect(receiver.words).toEqual(['sent', 'delivered', 'read']);
    expect(simulator.messages()[0]).toMatchObject({ status: 'read', readAt: expect.any(String) });
  });

  it('that come after reading do not turn the message back', async () => {
    const { simulator, receiver } = await startBoth({ delays: { sentMs: 100, deliveredMs: 200 } });
    const { json } = await send(simulator);
    await simulator.markRead(json.messages[0].id);
    await until('3 statuses', () => receiver.words.length === 3);
    expect(receiver.words).toEqual(['read', 'sent', 'delivered']);
    expect(simulator.messages()[0]).toMatchObject({ status: 'read', sentAt: expect.any(String) });
  });

  it('of several senders and accounts can share one webhook', async () => {
    const receiver = await startReceiver();
    const simulator = await start({
      webhookUrl: receiver.url,
      senders: [
        { phoneNumberId: '1', wabaId: '100' },
        { phoneNumberId: '2', wabaId: '100' },
        { phoneNumberId: '3', wabaId: '300' },
      ],
    });
    simulator.changeSettings({ batchMs: 50 });
    await Promise.all(
      ['1', '2', '3'].map((sender) =>
        simulator.postReceipt({ messageId: `wamid.${sender}`, status: 'sent', sender, recipientId: '9' }),
      ),
    );
    expect(receiver.webhooks).toHaveLength(1);
    const { entry } = JSON.parse(receiver.webhooks[0]!.rawBody);
    expect(entry.map(({ id, changes }: Json) => [id, changes.length])).toEqual([
      ['100', 2],
      ['300', 1],
    ]);
  });

  it('of one message share a webhook too when it is held back for long enough', async () => {
    const { simulator, receiver } = await startBoth();
    simulator.changeSettings({ batchMs: 1000 });
    await send(simulator);
    await until('2 statuses', () => receiver.statuses.length === 2);
    expect(receiver.webhooks).toHaveLength(1);
    expect(receiver.words).toEqual(['sent', 'delivered']);
  });

  it('are at most 1,000 in one webhook', async () => {
    const { simulator, receiver } = await startBoth();
    simulator.changeSettings({ batchMs: 200 });
    const posts = Array.from({ length: 1001 }, (_, at) =>
      simulator.postReceipt({ messageId: `wamid.${at}`, status: 'read', sender: SENDER, recipientId: '1' }),
    );
    expect(new Set(await Promise.all(posts))).toEqual(new Set([200]));
    expect(receiver.webhooks.map(({ statuses }) => statuses.length)).toEqual([1000, 1]);
  });

  it('can be posted by hand, for known and unknown messages', async () => {
    const { simulator, receiver } = await startBoth({ delays: { sentMs: 60_000, deliveredMs: 60_000 } });
    const { json } = await send(simulator);
    const messageId = json.messages[0].id;
    await simulator.postReceipt({
      messageId,
      status: 'failed',
      code: 131049,
      at: '2026-01-02T03:04:05.678Z',
    });
    await simulator.postReceipt({
      messageId: 'wamid.X',
      status: 'sent',
      sender: '7',
      recipientId: '9',
      opaque: 'o',
    });
    await simulator.postReceipt({ messageId, status: 'sent', opaque: null });
    expect(receiver.statuses).toMatchObject([
      {
        id: messageId,
        status: 'failed',
        timestamp: '1767323045',
        biz_opaque_callback_data: 'att_01J9ZK',
        errors: [{ code: 131049 }],
      },
      { id: 'wamid.X', status: 'sent', recipient_id: '9', biz_opaque_callback_data: 'o' },
      { id: messageId, status: 'sent' },
    ]);
    expect(Object.keys(receiver.statuses[2]!)).not.toContain('biz_opaque_callback_data');
    expect(simulator.messages()[0]).toMatchObject({ status: 'failed', failureCode: 131049 });
  });

  it('may stand in any payload that a test makes', async () => {
    const { simulator, receiver } = await startBoth();
    expect(await simulator.postWebhook({ object: 'page', entry: [] })).toBe(200);
    expect(receiver.webhooks[0]!.rawBody).toBe('{"object":"page","entry":[]}');
    expect(receiver.webhooks[0]!.headers['x-hub-signature-256']).toBe(
      signatureOf(APP_SECRET, '{"object":"page","entry":[]}'),
    );
  });
});
