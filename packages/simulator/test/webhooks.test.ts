import { createHmac } from 'node:crypto';
import { until } from '@onecode/testing';
import { WhatsAppAPI } from 'whatsapp-api-js';
import { metaJson, signatureOf } from '../src/index.js';
import {
  APP_SECRET,
  bodyOf,
  closeAll,
  control,
  send,
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

describe('a webhook that is not answered with 200', () => {
  it.each([500, 404, 201, 302])('is posted again: %i', async (status) => {
    const { simulator, receiver } = await startBoth(quick);
    receiver.answer = (number) => (number === 1 ? status : 200);
    expect(await simulator.postWebhook({ n: 1 })).toBe(status);
    await until('2 webhooks', () => receiver.webhooks.length === 2);
    expect(receiver.webhooks[1]!.rawBody).toBe(receiver.webhooks[0]!.rawBody);
  });

  it('is posted again at once, then with growing delays, and finally abandoned', async () => {
    const { simulator, receiver } = await startBoth(quick);
    receiver.answer = () => 503;
    await simulator.postWebhook({ n: 1 });
    await until('4 webhooks', () => receiver.webhooks.length === 4);
    const at = receiver.webhooks.map((webhook) => webhook.at);
    const [first, second, third] = [at[1]! - at[0]!, at[2]! - at[1]!, at[3]! - at[2]!];
    expect(second).toBeGreaterThanOrEqual(Math.max(first, 295));
    expect(third).toBeGreaterThanOrEqual(595);
    const counts = async () => (await control(simulator, 'GET', 'status')).json.webhooks;
    while ((await counts()).waiting > 0);
    expect(await counts()).toMatchObject({ delivered: 0, abandoned: 1, last_failure: 'answered 503' });
    expect(receiver.webhooks).toHaveLength(4);
  });

  it('reaches a receiver that starts later, at its new address', async () => {
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

  it('asks as Meta does until it passes, and shows its state', async () => {
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

  it('fails with any answer but the challenge', async () => {
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
