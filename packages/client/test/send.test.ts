import { closedPort } from '@onecode/testing';
import {
  aSend,
  FINAL_CREATIONS,
  floods,
  json,
  KEY,
  problem,
  REPEATED_CREATIONS,
  resets,
  stopsAfterHeaders,
  text,
  useService,
  type Behaviour,
} from '@onecode/testing/breaking-service';
import {
  ConnectionError,
  Onecode,
  OnecodeError,
  ProblemError,
  type Fetch,
  type FetchInit,
  type OnecodeOptions,
} from '../src/index.js';

const service = useService();
const client = (options: Partial<OnecodeOptions> = {}): Onecode =>
  new Onecode({ apiKey: KEY, baseUrl: service.url, ...options });
const failureOf = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);
const INPUT = { to: '+447700900123' };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The times at which requests came, in milliseconds. */
const timed =
  (times: number[], behaviour: Behaviour): Behaviour =>
  (response, request) => {
    times.push(performance.now());
    behaviour(response, request);
  };

describe('a send', () => {
  it('is returned with the names of the contract', async () => {
    const send = aSend({ status: 'delivered', channel: 'whatsapp' });
    service.script(json(202, send));
    await expect(client().send({ to: '+447700900123', code: '004217', locale: 'en' })).resolves.toEqual(send);
    expect(service.requests).toMatchObject([
      { method: 'POST', path: '/v1/send', body: '{"to":"+447700900123","code":"004217","locale":"en"}' },
    ]);
    expect(service.requests[0]?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/json',
      'idempotency-key': expect.stringMatching(UUID),
    });
  });

  it.each(REPEATED_CREATIONS)(
    'is tried again after %s, with the same key and bytes',
    async (_, behaviour) => {
      const send = aSend();
      service.script(behaviour, json(202, send));
      await expect(client({ timeoutMs: 400 }).send(INPUT)).resolves.toEqual(send);
      expect(service.requests).toHaveLength(2);
      const [first, second] = service.requests;
      expect(second?.body).toBe(first?.body);
      expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
      expect(first?.headers['idempotency-key']).toMatch(UUID);
    },
  );

  it.each(FINAL_CREATIONS)('is not tried again after %s', async (_, behaviour, kind) => {
    service.script(behaviour);
    const error = await failureOf(client().send(INPUT, { idempotencyKey: 'sign-in-1' }));
    expect(error).toBeInstanceOf(kind === 'problem' ? ProblemError : ConnectionError);
    expect(error).toMatchObject({ idempotencyKey: 'sign-in-1' });
    expect(service.requests).toHaveLength(1);
  });

  it('is given up after maxRetries, with the key that goes on with it', async () => {
    service.script(problem(500, 'internal_error', { 'x-request-id': 'r-1' }));
    const error = await failureOf(client({ maxRetries: 1 }).send(INPUT));
    expect(error).toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({
      status: 500,
      code: 'internal_error',
      requestId: 'r-1',
      idempotencyKey: service.requests[0]?.headers['idempotency-key'],
    });
    expect(service.requests).toHaveLength(2);

    service.script(resets);
    await expect(client({ maxRetries: 0 }).send(INPUT, { idempotencyKey: 'k' })).rejects.toThrow(
      ConnectionError,
    );
    expect(service.requests).toHaveLength(3);
  });

  it('says that the service cannot be reached, and with which key to go on', async () => {
    const baseUrl = `http://127.0.0.1:${await closedPort()}`;
    const error = await failureOf(client({ baseUrl, maxRetries: 1 }).send(INPUT));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({
      message: expect.stringContaining('ECONNREFUSED'),
      idempotencyKey: expect.stringMatching(UUID),
    });
  });

  it('waits longer after each try', async () => {
    const times: number[] = [];
    service.script(timed(times, resets));
    await failureOf(client().send(INPUT));
    expect(times).toHaveLength(4);
    const waits = times.slice(1).map((time, index) => time - times[index]!);
    // The least of each wait; what comes on top is random, or the machine's.
    expect(waits[0]).toBeGreaterThan(245);
    expect(waits[1]).toBeGreaterThan(495);
    expect(waits[2]).toBeGreaterThan(995);
  });

  it.each([
    ['seconds', () => ({ 'retry-after': '1' })],
    ['a date', () => ({ date: new Date(0).toUTCString(), 'retry-after': new Date(1000).toUTCString() })],
  ])('waits for the Retry-After of a limit, in %s', async (_, headers) => {
    const times: number[] = [];
    service.script(timed(times, problem(429, 'rate_limited', headers())), timed(times, json(202, aSend())));
    await client().send(INPUT);
    expect(times[1]! - times[0]!).toBeGreaterThan(995);
  });

  it('says how long a limit lasts when that is longer than it waits', async () => {
    service.script(problem(429, 'rate_limited', { 'retry-after': '3600' }));
    const error = await failureOf(client().send(INPUT));
    expect(error).toMatchObject({ code: 'rate_limited', status: 429, retryAfterSeconds: 3600 });
  });

  it('is limited in each try by timeoutMs, body included', async () => {
    service.script(stopsAfterHeaders);
    const error = await failureOf(client({ timeoutMs: 100, maxRetries: 0 }).send(INPUT));
    expect(error).toMatchObject({ message: expect.stringContaining('no answer within 100 ms'), status: 202 });
  });

  it('ends at once when its signal is aborted, during a try or a wait, with the signal’s reason', async () => {
    const reason = { why: 'shutting down' };
    const duringTry = new AbortController();
    service.script(() => duringTry.abort(reason));
    await expect(client().send(INPUT, { signal: duringTry.signal })).rejects.toBe(reason);

    const duringWait = new AbortController();
    service.script((response, request) => {
      response.on('close', () => setImmediate(() => duringWait.abort(reason)));
      problem(429, 'rate_limited', { 'retry-after': '30' })(response, request);
    });
    await expect(client().send(INPUT, { signal: duringWait.signal })).rejects.toBe(reason);
    expect(service.requests).toHaveLength(2);

    const before = AbortSignal.abort(reason);
    await expect(client().send(INPUT, { signal: before })).rejects.toBe(reason);
    expect(service.requests).toHaveLength(2);
  });

  it('has the same bytes for the same input, and hides nothing from the service', async () => {
    service.script(json(202, aSend()));
    await client().send({ locale: 'en', code: '1234', to: '+1', channel: 'sms' } as { to: string });
    expect(service.requests[0]?.body).toBe('{"to":"+1","code":"1234","locale":"en","channel":"sms"}');
  });

  it('always has an idempotency key: an empty one would count as none', async () => {
    service.script(json(202, aSend()));
    for (const idempotencyKey of [undefined, '', ' \t']) await client().send(INPUT, { idempotencyKey });
    for (const { headers } of service.requests) expect(headers['idempotency-key']).toMatch(UUID);
    expect(new Set(service.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(3);
  });

  // The last is white space to a language, and a key to the service.
  it.each(['início-登录', '\u3000'])('has an idempotency key of any language, in UTF-8: %s', async (key) => {
    service.script(json(202, aSend()));
    await client().send(INPUT, { idempotencyKey: key });
    const bytes = Buffer.from(String(service.requests[0]?.headers['idempotency-key']), 'latin1');
    expect(bytes.toString('utf8')).toBe(key);
  });

  it('refuses what it cannot send before anything is sent', async () => {
    await expect(client().send(INPUT, { idempotencyKey: 'two\nlines' })).rejects.toThrow(OnecodeError);
    await expect(client().send(undefined as unknown as { to: string })).rejects.toThrow(OnecodeError);
    expect(service.requests).toHaveLength(0);
  });

  it('is made by a fetch that follows, caches and adds nothing', async () => {
    const inits: FetchInit[] = [];
    service.script(json(202, aSend()));
    const spy: Fetch = (url, init) => {
      inits.push(init);
      return fetch(url, init);
    };
    await client({ fetch: spy }).send(INPUT);
    expect(inits).toEqual([
      expect.objectContaining({
        redirect: 'manual',
        credentials: 'omit',
        cache: 'no-store',
        body: JSON.stringify(INPUT),
      }),
    ]);
  });

  it('does not read an answer without an end', async () => {
    service.script(floods);
    const error = await failureOf(client({ maxRetries: 0 }).send(INPUT));
    expect(error).toMatchObject({ message: expect.stringContaining('too long') });
  });
});

describe('reading', () => {
  it('is one request, whatever comes of it', async () => {
    service.script(problem(500, 'internal_error'));
    await expect(client().status('the-send')).rejects.toThrow(ProblemError);
    service.script(resets);
    await expect(client().signupSettings()).rejects.toThrow(ConnectionError);
    expect(service.requests.map(({ path }) => path)).toEqual([
      '/v1/send/the-send/status',
      '/v1/signup-settings',
    ]);
  });

  it('of the offer carries no key', async () => {
    service.script(json(200, { free_sends: 10 }));
    await expect(client().signupSettings()).resolves.toEqual({ free_sends: 10 });
    expect(service.requests[0]?.headers.authorization).toBeUndefined();
  });

  it.each([
    ['a page', text(200, '<html>')],
    ['a send with 202', json(202, aSend())],
    ['a send without a state', json(200, { ...aSend(), status: undefined })],
  ])('of %s is no send', async (_, behaviour) => {
    service.script(behaviour);
    await expect(client().status('the-send')).rejects.toThrow(ConnectionError);
  });
});
