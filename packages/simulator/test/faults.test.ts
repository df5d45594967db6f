import { connect } from 'node:net';
import { until } from '@onecode/testing';
import type { Fault, Simulator } from '../src/index.js';
import { bodyOf, closeAll, OTHER, RECIPIENT, send, SENDER, start, startBoth } from './sending.js';

afterEach(closeAll);

/** The error code that a cut connection leaves at the caller. */
async function failureOf(simulator: Simulator): Promise<unknown> {
  const error = await send(simulator).then(
    () => null,
    (thrown: Error) => thrown,
  );
  return (error?.cause as { code?: unknown } | undefined)?.code;
}

describe('error', () => {
  it('refuses with the HTTP status and the words that Meta gives the code', async () => {
    const { simulator, receiver } = await startBoth();
    simulator.rules.add({ recipient: RECIPIENT, fault: { error: 131056 } });
    const { status, json } = await send(simulator);
    expect(status).toBe(400);
    expect(json.error).toMatchObject({
      message: '(#131056) (Business Account, Consumer Account) pair rate limit hit',
      error_data: { messaging_product: 'whatsapp', details: expect.stringMatching(/too many messages/) },
    });
    await send(simulator, bodyOf({ to: OTHER }));
    await until('2 statuses', () => receiver.words.length === 2);
    expect(simulator.messages().map(({ to }) => to)).toEqual([OTHER]);
  });

  it.each([
    [2, 503],
    [3, 500],
    [190, 401],
    [368, 403],
    [130429, 400],
    [131016, 500],
    [132001, 404],
    [999999, 400],
  ])('comes with the usual status: %i with %i', async (error, http) => {
    const simulator = await start();
    simulator.rules.add({ fault: { error } });
    expect((await send(simulator)).status).toBe(http);
  });

  it('comes with another status, subcode and Retry-After when the rule says so', async () => {
    const simulator = await start();
    simulator.rules.add({ fault: { error: 130429, http: 429, subcode: 2494055, retryAfter: 7 } });
    const { status, headers, json } = await send(simulator);
    expect([status, headers.get('retry-after'), json.error.error_subcode]).toEqual([429, '7', 2494055]);
    expect(simulator.requests()[0]).toMatchObject({ outcome: 'error', http: 429, code: 130429 });
  });
});

describe('latencyMs', () => {
  it('holds the request back, and others go on', async () => {
    const simulator = await start();
    simulator.rules.add({ recipient: RECIPIENT, fault: { latencyMs: 300 }, times: 1 });
    const began = performance.now();
    const late = send(simulator).then(() => performance.now() - began);
    await send(simulator, bodyOf({ to: OTHER }));
    expect(simulator.requests()[0]).toMatchObject({ outcome: 'pending', messageId: null });
    expect(await late).toBeGreaterThanOrEqual(295);
    expect(simulator.requests()[0]).toMatchObject({ outcome: 'accepted', http: 200 });
  });

  it('lets the message out also when the caller has left, and knows that nobody heard the answer', async () => {
    const { simulator, receiver } = await startBoth();
    simulator.rules.add({ fault: { latencyMs: 500 } });
    const impatience = new AbortController();
    const sending = send(simulator, bodyOf(), { signal: impatience.signal });
    await until('a request', () => simulator.requests().length === 1);
    impatience.abort();
    await expect(sending).rejects.toThrow();
    await until('the status delivered', () => receiver.words.includes('delivered'));
    expect(simulator.messages()).toHaveLength(1);
    expect(simulator.requests()[0]).toMatchObject({ outcome: 'accepted', http: null });
  });
});

describe('hang', () => {
  it('never answers, records no message, and does not hold up the close', async () => {
    const simulator = await start();
    simulator.rules.add({ fault: { hang: true } });
    let answered = false;
    const ended = send(simulator).then(
      () => (answered = true),
      (error: Error) => (error.cause as { code: string }).code,
    );
    await until('a request that hangs', () => simulator.requests()[0]?.outcome === 'hung');
    expect(simulator.messages()).toEqual([]);
    const began = performance.now();
    await simulator.close();
    expect(performance.now() - began).toBeLessThan(4_000);
    expect(await ended).toBe('ECONNRESET');
    expect(answered).toBe(false);
  });
});

describe('a connection that a client opened and left silent', () => {
  it('does not hold up the close', async () => {
    const simulator = await start();
    const { hostname, port } = new URL(simulator.url);
    const socket = connect(Number(port), hostname);
    let closed = false;
    socket.on('error', () => undefined).on('close', () => (closed = true));
    await until('a connection', () => !socket.connecting);
    // Answered on another connection, so that the server has accepted the silent one before.
    await send(simulator);
    const began = performance.now();
    await simulator.close();
    expect(performance.now() - began).toBeLessThan(4_000);
    await until('the end of the connection', () => closed);
  });
});

describe('reset', () => {
  it('before: cuts the connection, and there is no message', async () => {
    const { simulator } = await startBoth();
    simulator.rules.add({ fault: { reset: 'before' }, times: 1 });
    expect(await failureOf(simulator)).toBe('ECONNRESET');
    expect(simulator.messages()).toEqual([]);
    expect(simulator.requests()).toMatchObject([{ outcome: 'reset_before', http: null, messageId: null }]);
    expect((await send(simulator)).status).toBe(200);
  });

  it('after: cuts the connection, and the message goes out with its receipts', async () => {
    const { simulator, receiver } = await startBoth();
    simulator.rules.add({ fault: { reset: 'after' } });
    expect(await failureOf(simulator)).toBe('ECONNRESET');
    await until('2 statuses', () => receiver.words.length === 2);
    const [message] = simulator.messages();
    expect(receiver.statuses.map(({ id }) => id)).toEqual([message!.id, message!.id]);
    expect(receiver.statuses[0]!.biz_opaque_callback_data).toBe('att_01J9ZK');
    expect(simulator.requests()).toMatchObject([
      { outcome: 'reset_after', http: null, messageId: message!.id },
    ]);
  });
});

describe('acceptThenDrop', () => {
  it('answers 200 and never posts a receipt, not even for reading', async () => {
    const { simulator, receiver } = await startBoth();
    simulator.rules.add({ recipient: RECIPIENT, fault: { acceptThenDrop: true } });
    const { status, json } = await send(simulator);
    expect(status).toBe(200);
    expect(await simulator.markRead(json.messages[0].id)).toBe(false);
    // A message behind it has all its receipts, so that those of the first would be here too.
    await send(simulator, bodyOf({ to: OTHER }));
    await until('2 statuses', () => receiver.words.length >= 2);
    expect(receiver.statuses.map(({ recipient_id }) => recipient_id)).toEqual(['12015553931', '12015553931']);
    expect(simulator.messages()[0]).toMatchObject({ dropped: true, status: 'accepted' });
    expect(simulator.requests()[0]).toMatchObject({ outcome: 'dropped', http: 200 });
  });
});

describe('lateFailure', () => {
  it('answers 200, then posts one failed receipt with the code', async () => {
    const { simulator, receiver } = await startBoth();
    simulator.rules.add({ fault: { lateFailure: 131026 }, times: 1 });
    const { status, json } = await send(simulator);
    expect(status).toBe(200);
    await send(simulator, bodyOf({ to: OTHER }));
    await until('3 statuses', () => receiver.words.length === 3);
    const own = receiver.statuses.filter(({ id }) => id === json.messages[0].id);
    expect(own).toEqual([
      {
        id: json.messages[0].id,
        status: 'failed',
        timestamp: expect.stringMatching(/^\d{10}$/),
        recipient_id: '551187654321',
        biz_opaque_callback_data: 'att_01J9ZK',
        errors: [
          {
            code: 131026,
            title: 'Message undeliverable',
            message: 'Message undeliverable',
            error_data: { details: 'Message Undeliverable.' },
            href: 'https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes',
          },
        ],
      },
    ]);
    expect(simulator.messages()[0]).toMatchObject({ status: 'failed', failureCode: 131026, sentAt: null });
  });
});

describe('lateFailureMs', () => {
  it('posts the failed receipt so long after the acceptance', async () => {
    const { simulator, receiver } = await startBoth();
    simulator.rules.add({ sender: SENDER, fault: { lateFailure: 131042, lateFailureMs: 120 } });
    const sentAt = performance.now();
    await send(simulator);
    await until('a status', () => receiver.words.length === 1);
    expect(receiver.statuses[0]).toMatchObject({ status: 'failed', errors: [{ code: 131042 }] });
    expect(receiver.webhooks[0]!.at - sentAt).toBeGreaterThan(115);
    const { acceptedAt, failedAt } = simulator.messages()[0]!;
    expect(Date.parse(failedAt!) - Date.parse(acceptedAt)).toBe(120);
  });
});

describe('wrongBody', () => {
  const bodies: [NonNullable<Fault['wrongBody']>, RegExp, string][] = [
    ['empty', /^$/, 'application/json'],
    ['html', /^<!DOCTYPE html>/, 'text/html'],
    ['no_id', /"messages":\[\{\}\]/, 'application/json'],
  ];
  it.each(bodies)('%s: answers 200 with it, and the message goes out', async (wrongBody, text, type) => {
    const { simulator, receiver } = await startBoth();
    simulator.rules.add({ fault: { wrongBody } });
    const answer = await send(simulator);
    expect(answer.status).toBe(200);
    expect(answer.text).toMatch(text);
    expect(answer.headers.get('content-type')).toContain(type);
    await until('2 statuses', () => receiver.words.length === 2);
    expect(simulator.requests()).toMatchObject([{ outcome: 'wrong_body', http: 200 }]);
  });

  it('with an error status: there is no message', async () => {
    const simulator = await start();
    simulator.rules.add({ fault: { wrongBody: 'html', http: 502, retryAfter: 3 } });
    const answer = await send(simulator);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([502, '3']);
    expect(simulator.messages()).toEqual([]);
  });
});

describe('receipts', () => {
  it('come before the answer when the rule says so', async () => {
    const { simulator, receiver } = await startBoth({ delays: { sentMs: 60_000, deliveredMs: 60_000 } });
    simulator.rules.add({ fault: { receiptsBeforeAnswer: true } });
    const { json } = await send(simulator);
    expect(receiver.words).toEqual(['sent', 'delivered']);
    expect(receiver.statuses[0]!.id).toBe(json.messages[0].id);
  });

  it('come several times', async () => {
    const { simulator, receiver } = await startBoth();
    simulator.rules.add({ fault: { duplicates: 2 } });
    await send(simulator);
    await until('6 statuses', () => receiver.words.length === 6);
    expect(receiver.words).toEqual(['sent', 'sent', 'sent', 'delivered', 'delivered', 'delivered']);
  });

  it('come delivered before sent, each with its own time', async () => {
    const { simulator, receiver } = await startBoth({ delays: { sentMs: 0, deliveredMs: 20, readMs: 40 } });
    simulator.rules.add({ fault: { disorder: true } });
    await send(simulator);
    await until('3 statuses', () => receiver.words.length === 3);
    expect(receiver.words).toEqual(['read', 'delivered', 'sent']);
    const [message] = simulator.messages();
    expect(message!.status).toBe('read');
    expect(Date.parse(message!.sentAt!)).toBeLessThan(Date.parse(message!.deliveredAt!));
  });

  it('may be promised later or not at all by the status of the message', async () => {
    const simulator = await start();
    simulator.rules.add({ fault: { messageStatus: 'paused' } });
    expect((await send(simulator)).json.messages[0].message_status).toBe('paused');
  });
});
