import { createHmac } from 'node:crypto';
import { until } from '@onecode/testing';
import type { Simulator } from '../src/index.js';
import {
  APP_SECRET,
  bodyOf,
  closeAll,
  control,
  RECIPIENT,
  send,
  SENDER,
  start,
  startBoth,
} from './sending.js';

afterEach(closeAll);

const NEVER = { sentMs: 60_000, deliveredMs: 60_000 };

describe('receipts', () => {
  it('are posted after their delays, with `read` only if it has a delay', async () => {
    const { simulator, receiver } = await startBoth({ delays: { sentMs: 0, deliveredMs: 20, readMs: 40 } });
    await send(simulator);
    await until('3 webhooks', () => receiver.webhooks.length === 3);
    expect(receiver.words).toEqual(['sent', 'delivered', 'read']);
    const { acceptedAt, sentAt, deliveredAt, readAt } = simulator.messages()[0]!;
    expect([sentAt, deliveredAt, readAt].map((at) => Date.parse(at!) - Date.parse(acceptedAt))).toEqual([
      0, 20, 40,
    ]);
  });

  it('can be posted manually for known and unknown messages, and never move a status back', async () => {
    const { simulator, receiver } = await startBoth({ delays: NEVER });
    const { json } = await send(simulator);
    const messageId = json.messages[0].id;
    const at = '2026-01-02T03:04:05.678Z';
    for (const receipt of [
      { messageId, status: 'failed', code: 131049, at },
      { messageId: 'wamid.X', status: 'sent', sender: '7', recipientId: '9', opaque: 'o' },
      { messageId, status: 'sent', opaque: null },
    ])
      expect((await control(simulator, 'POST', 'receipts', receipt)).json).toEqual({ webhook_status: 200 });
    expect(receiver.statuses).toMatchObject([
      { status: 'failed', timestamp: '1767323045', biz_opaque_callback_data: 'att_01J9ZK' },
      { id: 'wamid.X', status: 'sent', recipient_id: '9', biz_opaque_callback_data: 'o' },
      { id: messageId, status: 'sent' },
    ]);
    expect(receiver.statuses[0].errors).toMatchObject([{ code: 131049 }]);
    expect(receiver.statuses[2]).not.toHaveProperty('biz_opaque_callback_data');
    expect(simulator.messages()[0]).toMatchObject({ status: 'failed', failureCode: 131049, failedAt: at });
    const wrong = await control(simulator, 'POST', 'receipts', { status: 'seen' });
    expect(wrong).toMatchObject({
      status: 422,
      json: { errors: ['status must be one of sent, delivered, read, failed', 'messageId is missing'] },
    });
  });
});

describe("the phone's owner", () => {
  it.each([
    ['read', { status: 'read' }],
    ['did-not-request', { reportedAt: expect.stringMatching(/Z$/) }],
  ])('can take each action once: %s', async (what, message) => {
    const { simulator, receiver } = await startBoth({ delays: NEVER });
    const { json } = await send(simulator);
    const { id } = json.messages[0];
    const path = `messages/${encodeURIComponent(id)}/${what}`;
    expect(await control(simulator, 'POST', path)).toMatchObject({ status: 200, json: message });
    expect((await control(simulator, 'POST', path)).status).toBe(409);
    expect((await control(simulator, 'POST', `messages/wamid.none/${what}`)).status).toBe(404);
    expect(receiver.all).toHaveLength(1);
    if (what === 'read') expect(receiver.statuses[0]).not.toHaveProperty('pricing');
    else
      expect(receiver.replies[0]).toMatchObject({
        context: { from: '15552242922', id },
        from: '551187654321',
        type: 'button',
        button: { payload: 'DID_NOT_REQUEST_CODE' },
      });
  });

  it('has an identity hash, and a message for another person fails after its acceptance', async () => {
    const { simulator, receiver } = await startBoth();
    await simulator.business.changeSender(SENDER, { identityKeyCheck: true });
    await send(simulator, { ...bodyOf(), recipient_identity_key_hash: 'of another person' });
    await until('a status', () => receiver.words.length === 1);
    const identity = simulator.business.identityOf(RECIPIENT);
    expect(receiver.statuses).toMatchObject([
      { status: 'failed', errors: [{ code: 137000 }], recipient_identity_key_hash: identity },
    ]);
    expect(simulator.business.changeHands(RECIPIENT)).not.toBe(identity);
  });
});

describe('a webhook', () => {
  it('is signed over its bytes, which contain the escapes that Meta uses', async () => {
    const { simulator, receiver } = await startBoth();
    await simulator.postWebhook({ name: 'José 🍕', path: 'a/b' });
    const [{ rawBody, headers }] = receiver.webhooks as [(typeof receiver.webhooks)[0]];
    expect(rawBody).toBe(String.raw`{"name":"Jos\u00e9 \ud83c\udf55","path":"a\/b"}`);
    const digest = createHmac('sha256', APP_SECRET).update(rawBody).digest('hex');
    expect(headers['x-hub-signature-256']).toBe(`sha256=${digest}`);
  });

  it.each([500, 404, 201, 302])('is posted again after a response with %i', async (status) => {
    const { simulator, receiver } = await startBoth();
    receiver.answer = (number) => (number === 1 ? status : 200);
    expect(await simulator.postWebhook({ n: 1 })).toBe(status);
    await until('2 webhooks', () => receiver.webhooks.length === 2);
    expect(receiver.webhooks[1]!.rawBody).toBe(receiver.webhooks[0]!.rawBody);
    await until('a delivered webhook', async () => (await webhooksOf(simulator)).delivered === 1);
    expect(await webhooksOf(simulator)).toMatchObject({ waiting: 0, last_failure: `answered ${status}` });
  });

  it('is dropped when the simulator is reset or closed', async () => {
    const { simulator, receiver } = await startBoth();
    receiver.answer = (number) => {
      // The response to the second attempt arrives after the reset.
      if (number === 2) simulator.reset();
      return number === 3 ? 200 : 500;
    };
    await simulator.postWebhook({ n: 1 });
    await until('2 webhooks', () => receiver.webhooks.length === 2);
    expect(await simulator.postWebhook({ n: 2 })).toBe(200);
    expect(await webhooksOf(simulator)).toMatchObject({ delivered: 1, waiting: 0, last_failure: null });
    await simulator.close();
    expect(await simulator.postWebhook({ n: 3 })).toBe(null);
    expect(receiver.webhooks).toHaveLength(3);
  });

  it('is not posted without an address or for an account without a subscription', async () => {
    const nowhere = await start();
    await send(nowhere);
    expect(await nowhere.postWebhook({})).toBe(null);
    const { simulator, receiver } = await startBoth();
    await simulator.business.changeAccount('102290129340398', { subscribed: false });
    const { json } = await send(simulator);
    expect(await simulator.reportMessage(json.messages[0].id)).toBe(true);
    await until('a delivered message', () => simulator.messages()[0]?.status === 'delivered');
    expect(receiver.webhooks).toEqual([]);
  });
});

describe('the handshake', () => {
  it('repeats Meta’s request until the receiver returns the challenge', async () => {
    const { simulator, receiver } = await startBoth({ verifyToken: 'vibecoding' });
    receiver.verify = () => 'ok';
    await until('a refused handshake', async () => (await webhooksOf(simulator)).handshake.reason !== null);
    expect((await webhooksOf(simulator)).handshake).toEqual({
      state: 'waiting',
      reason: 'the answer was not the challenge',
    });
    const [asked] = receiver.handshakes;
    expect([asked!.get('hub.mode'), asked!.get('hub.verify_token')]).toEqual(['subscribe', 'vibecoding']);
    receiver.verify = (query) => query.get('hub.challenge')!;
    await until('the handshake', async () => (await webhooksOf(simulator)).handshake.state === 'passed');
  });
});

const webhooksOf = async (simulator: Simulator) => (await control(simulator, 'GET', 'status')).json.webhooks;
