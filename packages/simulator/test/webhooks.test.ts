import { createHmac } from 'node:crypto';
import { WhatsAppAPI } from 'whatsapp-api-js';
import { until } from '../../../test/harness/until.js';
import { metaJson, signatureOf } from '../src/index.js';
import {
  APP_SECRET,
  bodyOf,
  closeAll,
  control,
  send,
  SENDER,
  start,
  startBoth,
  startReceiver,
  type Json,
} from './sending.js';

afterEach(closeAll);

/** Repeats without long waits. */
const quick = { webhookRetry: { attempts: 4, firstDelayMs: 300, delayMsMax: 10_000 } };

describe('the signature', () => {
  it('is made over the exact bytes, and an independent library agrees', async () => {
    const { simulator, receiver } = await startBoth();
    await send(simulator, bodyOf({ opaque: 'José 🍕 a/b' }));
    await until('2 webhooks', () => receiver.webhooks.length === 2);
    const judge = new WhatsAppAPI({ token: 'token', appSecret: APP_SECRET, v: 'v25.0' });
    for (const { rawBody, headers } of receiver.webhooks) {
      const signature = String(headers['x-hub-signature-256']);
      expect(await judge.verifyRequestSignature(rawBody, signature)).toBe(true);
      expect(await judge.verifyRequestSignature(`${rawBody} `, signature)).toBe(false);
      const digest = createHmac('sha256', APP_SECRET).update(Buffer.from(rawBody)).digest('hex');
      expect(signature).toBe(`sha256=${digest}`);
    }
  });

  it('covers a body whose non-ASCII characters and slashes are escaped as Meta does', async () => {
    const { simulator, receiver } = await startBoth();
    await send(simulator, bodyOf({ opaque: 'José 🍕 a/b' }));
    await until('2 webhooks', () => receiver.webhooks.length === 2);
    expect(receiver.webhooks[0]!.rawBody).toContain(
      String.raw`"biz_opaque_callback_data":"Jos\u00e9 \ud83c\udf55 a\/b"`,
    );
    expect(receiver.statuses[0]!.biz_opaque_callback_data).toBe('José 🍕 a/b');
  });

  it('is the one that others compute for a known body', () => {
    const body = metaJson({ name: 'José', path: 'a/b' });
    expect(body).toBe(String.raw`{"name":"Jos\u00e9","path":"a\/b"}`);
    expect(signatureOf('secret', body)).toBe(
      `sha256=${createHmac('sha256', 'secret').update(body).digest('hex')}`,
    );
  });
});

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

describe('a webhook that is not answered with 200', () => {
  it.each([500, 404, 201, 302])('is posted again: %i', async (status) => {
    const { simulator, receiver } = await startBoth(quick);
    receiver.answer = (number) => (number === 1 ? status : 200);
    expect(await simulator.postWebhook({ n: 1 })).toBe(status);
    await until('2 webhooks', () => receiver.webhooks.length === 2);
    expect(receiver.webhooks[1]!.rawBody).toBe(receiver.webhooks[0]!.rawBody);
  });

  it('comes again at once, then ever later, and is given up in the end', async () => {
    const { simulator, receiver } = await startBoth(quick);
    receiver.answer = () => 503;
    await simulator.postWebhook({ n: 1 });
    await until('4 webhooks', () => receiver.webhooks.length === 4);
    const at = receiver.webhooks.map((webhook) => webhook.at);
    const [first, second, third] = [at[1]! - at[0]!, at[2]! - at[1]!, at[3]! - at[2]!];
    expect(first).toBeLessThan(290);
    expect(second).toBeGreaterThanOrEqual(295);
    expect(third).toBeGreaterThanOrEqual(595);
    const counts = async () => (await control(simulator, 'GET', 'status')).json.webhooks;
    while ((await counts()).waiting > 0);
    expect(await counts()).toMatchObject({ delivered: 0, abandoned: 1, last_failure: 'answered 503' });
    expect(receiver.webhooks).toHaveLength(4);
  });

  it('reaches a receiver that comes up later, at its new address', async () => {
    const gone = await startReceiver();
    const { url } = gone;
    await gone.close();
    const simulator = await start({
      webhookUrl: url,
      webhookRetry: { attempts: 50, firstDelayMs: 20, delayMsMax: 20 },
    });
    expect(await simulator.postWebhook({ n: 1 })).toBe(null);
    const receiver = await startReceiver();
    simulator.setWebhookUrl(receiver.url);
    await until('a webhook', () => receiver.webhooks.length === 1);
  });

  it('is forgotten when the simulator is reset or closed', async () => {
    const { simulator, receiver } = await startBoth({
      webhookRetry: { attempts: 50, firstDelayMs: 30, delayMsMax: 30 },
    });
    receiver.answer = () => 500;
    await simulator.postWebhook({ n: 1 });
    await until('2 webhooks', () => receiver.webhooks.length >= 2);
    simulator.reset();
    receiver.answer = () => 200;
    await simulator.postWebhook({ n: 2 });
    const seen = receiver.webhooks.length;
    await send(simulator);
    await until('2 statuses', () => receiver.words.length === 2);
    expect(receiver.webhooks).toHaveLength(seen + 2);
    await simulator.close();
    expect(await simulator.postWebhook({ n: 3 })).toBe(null);
    expect(receiver.webhooks).toHaveLength(seen + 2);
  });
});

describe('without an address', () => {
  it('messages go through and receipts go nowhere', async () => {
    const simulator = await start();
    const { json } = await send(simulator);
    expect(await simulator.markRead(json.messages[0].id)).toBe(true);
    expect(simulator.messages()[0]).toMatchObject({ status: 'read' });
  });
});

describe('the handshake', () => {
  const stateOf = async (url: string) =>
    ((await (await fetch(`${url}/simulator/status`)).json()) as Json).webhooks.handshake;

  it('asks as Meta does, again until it passes, and shows how it stands', async () => {
    const receiver = await startReceiver();
    receiver.verify = () => ({ status: 403, body: '' });
    const simulator = await start({ webhookUrl: receiver.url, verifyToken: 'vibecoding' });
    await until('2 handshakes', () => receiver.handshakes.length === 2);
    expect(await stateOf(simulator.url)).toEqual({ state: 'waiting', reason: 'answered 403' });
    const [asked] = receiver.handshakes;
    expect(asked!.get('hub.mode')).toBe('subscribe');
    expect(asked!.get('hub.verify_token')).toBe('vibecoding');
    expect(asked!.get('hub.challenge')).toMatch(/^\d{10}$/);

    receiver.verify = (query) => ({ status: 200, body: query.get('hub.challenge')! });
    let state = await stateOf(simulator.url);
    while (state.state !== 'passed') state = await stateOf(simulator.url);
    expect(state).toEqual({ state: 'passed', reason: null });
  });

  it('does not pass with another answer than the challenge', async () => {
    const receiver = await startReceiver();
    receiver.verify = () => ({ status: 200, body: 'ok' });
    const simulator = await start({ webhookUrl: receiver.url, verifyToken: 'v' });
    await until('2 handshakes', () => receiver.handshakes.length === 2);
    expect((await stateOf(simulator.url)).state).toBe('waiting');
  });

  it('is left out without a token', async () => {
    const { simulator, receiver } = await startBoth();
    await simulator.postWebhook({});
    expect(await stateOf(simulator.url)).toEqual({ state: 'off', reason: null });
    expect(receiver.handshakes).toEqual([]);
  });
});
