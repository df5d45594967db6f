import { until } from '@onecode/testing';
import { InvalidInput } from '../src/input.js';
import type { Fault } from '../src/index.js';
import {
  bodyOf,
  closeAll,
  codeOf,
  control,
  OTHER,
  RECIPIENT,
  send,
  SENDER,
  start,
  startBoth,
} from './sending.js';

afterEach(closeAll);

describe('fault rules', () => {
  it('apply in the order recipient, sender, account, all', async () => {
    const simulator = await start();
    await simulator.business.changeSender('2', { wabaId: '77' });
    const ofAll = simulator.rules.add({ fault: { error: 1 } });
    simulator.rules.add({ wabaId: '77', fault: { error: 3 } });
    simulator.rules.add({ sender: SENDER, fault: { error: 2 } });
    simulator.rules.add({ recipient: RECIPIENT, fault: { error: 4 } });
    simulator.rules.add({ recipient: RECIPIENT, sender: SENDER, fault: { error: 131000 } });
    expect(await codeOf(simulator)).toBe(131000);
    expect(await codeOf(simulator, { sender: '1' })).toBe(4);
    expect(await codeOf(simulator, { to: OTHER })).toBe(2);
    expect(await codeOf(simulator, { to: OTHER, sender: '2' })).toBe(3);
    expect(await codeOf(simulator, { to: OTHER, sender: '1' })).toBe(1);
    expect(simulator.requests().at(-1)).toMatchObject({ rule: ofAll.id, outcome: 'error' });
  });

  it('apply oldest first, each to its number of valid requests', async () => {
    const simulator = await start();
    simulator.rules.add({ fault: { error: 131000 }, times: 2 });
    simulator.rules.add({ fault: { error: 131016 }, times: 1 });
    await send(simulator, '{}');
    const codes: unknown[] = [];
    for (let sent = 0; sent < 4; sent += 1) codes.push(await codeOf(simulator));
    expect(codes).toEqual([131000, 131000, 131016, null]);
    expect(simulator.rules.list()).toEqual([]);
  });

  it.each<[what: string, rule: object, says: RegExp]>([
    ['no fault', { recipient: RECIPIENT }, /fault is missing/],
    ['an empty fault', { fault: {} }, /at least one member/],
    ['an unknown member', { fault: { explode: true } }, /explode is unknown/],
    ['an inherited name', { fault: { constructor: 1 } }, /constructor is unknown/],
    ['a recipient without +', { recipient: '5511987654321', fault: { hang: true } }, /recipient must be/],
    ['two outcomes', { fault: { hang: true, error: 1 } }, /only one of error, hang/],
    ['zero times', { fault: { hang: true }, times: 0 }, /times must be an integer from 1/],
  ])('are refused with %s', async (_what, rule, says) => {
    const simulator = await start();
    const adding = () => simulator.rules.add(rule as never);
    expect(adding).toThrow(InvalidInput);
    expect(adding).toThrow(says);
    expect(simulator.rules.list()).toEqual([]);
  });
});

describe('a fault', () => {
  const startWith = async (fault: Fault, delays = { sentMs: 0, deliveredMs: 0 }) => {
    const { simulator, receiver } = await startBoth({ delays });
    simulator.rules.add({ recipient: RECIPIENT, fault });
    return { simulator, receiver };
  };

  it('`error` refuses with the usual status of its code, or with the status of the rule', async () => {
    const { simulator } = await startWith({ error: 131056 });
    expect(await send(simulator)).toMatchObject({ status: 400, json: { error: { code: 131056 } } });
    simulator.rules.clear();
    simulator.rules.add({ fault: { error: 130429, http: 429, subcode: 2494055, retryAfter: 7 } });
    const { status, headers, json } = await send(simulator);
    expect([status, headers.get('retry-after'), json.error.error_subcode]).toEqual([429, '7', 2494055]);
    expect(simulator.requests().at(-1)).toMatchObject({ outcome: 'error', http: 429, code: 130429 });
    expect(simulator.messages()).toEqual([]);
  });

  it('`latencyMs` delays the response, and sends the message even if the caller disconnects', async () => {
    const { simulator, receiver } = await startWith({ latencyMs: 300 });
    const impatience = new AbortController();
    const sending = send(simulator, bodyOf(), { signal: impatience.signal });
    await until('a request', () => simulator.requests().length === 1);
    expect(simulator.requests()).toMatchObject([{ outcome: 'pending', messageId: null }]);
    expect(await codeOf(simulator, { to: OTHER })).toBe(null);
    impatience.abort();
    await expect(sending).rejects.toThrow();
    await until('four statuses', () => receiver.words.length === 4);
    expect(simulator.requests()[0]).toMatchObject({ outcome: 'accepted', http: null });
  });

  it.each(['reset', 'close'] as const)(
    '`hang` sends no response until a %s cuts the connection',
    async (end) => {
      const { simulator } = await startWith({ hang: true });
      const hung = send(simulator).catch((error: Error) => (error.cause as { code: string }).code);
      await until('a request that hangs', () => simulator.requests()[0]?.outcome === 'hung');
      expect(simulator.messages()).toEqual([]);
      await simulator[end]();
      expect(await hung).toBe('ECONNRESET');
    },
  );

  it('`reset` cuts the connection before the message, or after the message and its receipts', async () => {
    const { simulator, receiver } = await startWith({ reset: 'before' });
    await expect(send(simulator)).rejects.toThrow();
    expect(simulator.messages()).toEqual([]);
    simulator.rules.clear();
    simulator.rules.add({ fault: { reset: 'after' } });
    await expect(send(simulator)).rejects.toThrow();
    await until('2 statuses', () => receiver.words.length === 2);
    const [message] = simulator.messages();
    expect(receiver.statuses).toMatchObject([{ id: message!.id }, { id: message!.id }]);
    expect(simulator.requests()).toMatchObject([
      { outcome: 'reset_before', http: null, messageId: null },
      { outcome: 'reset_after', http: null, messageId: message!.id },
    ]);
  });

  it('`acceptThenDrop` accepts the message and never posts a receipt', async () => {
    const { simulator, receiver } = await startWith({ acceptThenDrop: true });
    const { status, json } = await send(simulator);
    expect(status).toBe(200);
    const path = `messages/${encodeURIComponent(json.messages[0].id)}/read`;
    expect((await control(simulator, 'POST', path)).status).toBe(409);
    // A later message has all its receipts, so receipts of the first would have arrived too.
    await send(simulator, bodyOf({ to: OTHER }));
    await until('2 statuses', () => receiver.words.length >= 2);
    expect(receiver.statuses.map(({ recipient_id }) => recipient_id)).toEqual(['12015553931', '12015553931']);
    expect(simulator.messages()[0]).toMatchObject({ dropped: true, status: 'accepted' });
    expect(simulator.requests()[0]).toMatchObject({ outcome: 'dropped', http: 200 });
  });

  it('`lateFailure` accepts the message, and posts a failed receipt after its delay', async () => {
    const { simulator, receiver } = await startWith({ lateFailure: 131042, lateFailureMs: 120 });
    const { status } = await send(simulator);
    expect(status).toBe(200);
    await until('a status', () => receiver.words.length === 1);
    expect(receiver.statuses[0]).toMatchObject({ status: 'failed', errors: [{ code: 131042 }] });
    const [message] = simulator.messages();
    expect(message).toMatchObject({ status: 'failed', failureCode: 131042, sentAt: null });
    expect(Date.parse(message!.failedAt!) - Date.parse(message!.acceptedAt)).toBe(120);
  });

  it.each([
    ['empty', /^$/, 'application/json'],
    ['html', /^<!DOCTYPE html>/, 'text/html'],
    ['no_id', /"messages":\[\{\}\]/, 'application/json'],
  ] as const)(
    '`wrongBody` responds with 200 and the body %s, and sends the message',
    async (wrongBody, text, type) => {
      const { simulator, receiver } = await startWith({ wrongBody });
      const answer = await send(simulator);
      expect(answer.status).toBe(200);
      expect(answer.text).toMatch(text);
      expect(answer.headers.get('content-type')).toContain(type);
      await until('2 statuses', () => receiver.words.length === 2);
      expect(simulator.requests()).toMatchObject([{ outcome: 'wrong_body', http: 200 }]);
    },
  );

  it('`wrongBody` with an error status sends no message', async () => {
    const { simulator } = await startWith({ wrongBody: 'html', http: 502, retryAfter: 3 });
    const answer = await send(simulator);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([502, '3']);
    expect(simulator.messages()).toEqual([]);
  });

  it('`receiptsBeforeAnswer` posts the receipts before the response', async () => {
    const { simulator, receiver } = await startWith(
      { receiptsBeforeAnswer: true },
      { sentMs: 60_000, deliveredMs: 60_000 },
    );
    const { json } = await send(simulator);
    expect(receiver.statuses).toMatchObject([
      { id: json.messages[0].id, status: 'sent' },
      { id: json.messages[0].id, status: 'delivered' },
    ]);
  });

  it('`duplicates` and `disorder` post receipts several times in reverse order, each with its own time', async () => {
    const { simulator, receiver } = await startWith(
      { duplicates: 1, disorder: true },
      { sentMs: 0, deliveredMs: 20 },
    );
    await send(simulator);
    await until('4 statuses', () => receiver.words.length === 4);
    expect(receiver.words).toEqual(['delivered', 'delivered', 'sent', 'sent']);
    const [message] = simulator.messages();
    expect(message!.status).toBe('delivered');
    expect(Date.parse(message!.sentAt!)).toBeLessThan(Date.parse(message!.deliveredAt!));
  });
});
