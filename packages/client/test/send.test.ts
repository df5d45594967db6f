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
  staysSilent,
  stopsAfterHeaders,
  text,
  useService,
} from '@onecode/testing/breaking-service';
import {
  ConnectionError,
  Onecode,
  OnecodeError,
  ProblemError,
  type Fetch,
  type FetchInit,
  type OnecodeOptions,
  type Send,
} from '../src/index.js';
import { usePauses } from './pauses.js';

const service = useService();
let overshootMs = 0;
const pauses = usePauses(() => overshootMs);
const client = (options: Partial<OnecodeOptions> = {}): Onecode =>
  new Onecode({ apiKey: KEY, baseUrl: service.url, ...options });
const failureOf = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);
const INPUT = { to: '+447700900123' };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('send', () => {
  it('posts the input with a generated idempotency key, and returns the send', async () => {
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

  it.each(REPEATED_CREATIONS)('retries after %s with the same key and bytes', async (_, behaviour) => {
    const send = aSend();
    service.script(behaviour, json(202, send));
    await expect(client({ timeoutMs: 400 }).send(INPUT)).resolves.toEqual(send);
    expect(service.requests).toHaveLength(2);
    const [first, second] = service.requests;
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
    expect(first?.headers['idempotency-key']).toMatch(UUID);
  });

  it.each(FINAL_CREATIONS)('does not retry after %s', async (_, behaviour, kind) => {
    service.script(behaviour);
    const error = await failureOf(client().send(INPUT, { idempotencyKey: 'sign-in-1' }));
    expect(error).toBeInstanceOf(kind === 'problem' ? ProblemError : ConnectionError);
    expect(error).toMatchObject({ idempotencyKey: 'sign-in-1' });
    expect(service.requests).toHaveLength(1);
  });

  it('throws the last problem with the idempotency key after maxRetries', async () => {
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
  });

  it('throws a ConnectionError with the idempotency key if the service is unreachable', async () => {
    const baseUrl = `http://127.0.0.1:${await closedPort()}`;
    const error = await failureOf(client({ baseUrl, maxRetries: 1 }).send(INPUT));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({
      message: expect.stringContaining('ECONNREFUSED'),
      idempotencyKey: expect.stringMatching(UUID),
    });
  });

  it('doubles the wait after each attempt, with up to half of it random', async () => {
    service.script(resets);
    await failureOf(client().send(INPUT));
    expect(service.requests).toHaveLength(4);
    expect(pauses).toHaveLength(3);
    for (const [index, pause] of pauses.entries()) {
      expect(pause).toBeGreaterThanOrEqual(250 * 2 ** index);
      expect(pause).toBeLessThanOrEqual(500 * 2 ** index);
    }
  });

  it.each([
    ['a number of seconds', { 'retry-after': '1' }],
    ['a date', { date: new Date(0).toUTCString(), 'retry-after': new Date(1000).toUTCString() }],
  ])('waits for a Retry-After that is %s after rate_limited', async (_, headers) => {
    service.script(problem(429, 'rate_limited', headers), json(202, aSend()));
    await client().send(INPUT);
    expect(pauses).toEqual([expect.any(Number)]);
    expect(pauses[0]).toBeGreaterThanOrEqual(1_000);
  });

  it('throws rate_limited with retryAfterSeconds if the wait would be too long', async () => {
    service.script(problem(429, 'rate_limited', { 'retry-after': '3600' }));
    const error = await failureOf(client().send(INPUT));
    expect(error).toMatchObject({ code: 'rate_limited', status: 429, retryAfterSeconds: 3600 });
  });

  it('starts no wait and no attempt that would exceed its deadline', async () => {
    service.script(problem(429, 'rate_limited', { 'retry-after': '15' }));
    expect(await failureOf(client().send(INPUT))).toMatchObject({ retryAfterSeconds: 15 });
    expect(service.requests).toHaveLength(1);

    service.script(resets, staysSilent);
    const error = await failureOf(client({ timeoutMs: 500, deadlineMs: 700 }).send(INPUT));
    const [, limitMs] = /no answer within (\d+) ms/.exec(String(error)) ?? [];
    expect(Number(limitMs) + pauses[0]!).toBeLessThanOrEqual(701);
    expect(service.requests).toHaveLength(3);
  });

  it('makes no attempt after a wait in which the process was suspended beyond the deadline', async () => {
    service.script(problem(500, 'internal_error'), json(202, aSend()));
    overshootMs = 60_000;
    const error = await failureOf(client().send(INPUT));
    overshootMs = 0;
    expect(error).toMatchObject({ code: 'internal_error', idempotencyKey: expect.stringMatching(UUID) });
    expect(service.requests).toHaveLength(1);
  });

  it('limits each attempt, including its body, to timeoutMs', async () => {
    service.script(stopsAfterHeaders);
    const error = await failureOf(client({ timeoutMs: 100, maxRetries: 0 }).send(INPUT));
    expect(error).toMatchObject({ message: expect.stringContaining('no answer within 100 ms'), status: 202 });
  });

  it('sends the fields in a fixed order, with unknown fields last', async () => {
    service.script(json(202, aSend()));
    await client().send({ locale: 'en', code: '1234', to: '+1', channel: 'sms' } as { to: string });
    expect(service.requests[0]?.body).toBe('{"to":"+1","code":"1234","locale":"en","channel":"sms"}');
  });

  it('generates an idempotency key if it is missing, empty or blank', async () => {
    service.script(json(202, aSend()));
    for (const idempotencyKey of [undefined, '', ' \t']) await client().send(INPUT, { idempotencyKey });
    for (const { headers } of service.requests) expect(headers['idempotency-key']).toMatch(UUID);
    expect(new Set(service.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(3);
  });

  // JavaScript trims U+3000 as white space; the service accepts it as a key.
  it.each(['início-登录', '\u3000'])('sends an idempotency key of any language in UTF-8: %s', async (key) => {
    service.script(json(202, aSend()));
    await client().send(INPUT, { idempotencyKey: key });
    const bytes = Buffer.from(String(service.requests[0]?.headers['idempotency-key']), 'latin1');
    expect(bytes.toString('utf8')).toBe(key);
  });

  it('throws for invalid input, and makes no request', async () => {
    await expect(client().send(INPUT, { idempotencyKey: 'two\nlines' })).rejects.toThrow(OnecodeError);
    await expect(client().send(undefined as unknown as { to: string })).rejects.toThrow(OnecodeError);
    expect(service.requests).toHaveLength(0);
  });

  it('calls fetch without redirects, caches or credentials', async () => {
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

  it.each([
    ["The 'cache' field on 'RequestInitializerDict' is not implemented.", 'cache'],
    ["The 'credentials' field on 'RequestInitializerDict' is not implemented.", 'credentials'],
    ['Unsupported cache mode: no-store', 'cache'],
    ['Invalid redirect value, must be one of "follow" or "manual".', 'redirect'],
    ["Failed to read the 'cache' property from 'RequestInit'", 'cache'],
    ['RequestInit: duplex option is required when sending a body.', 'duplex'],
  ])('names the option that fetch refuses with “%s”', async (message, option) => {
    const refuses: Fetch = () => Promise.reject(new TypeError(message));
    const error = await failureOf(client({ fetch: refuses, maxRetries: 0 }).send(INPUT));
    expect(error).toMatchObject({ message: `POST /v1/send: this fetch refuses the option ${option}` });
  });

  it('throws if the response is too long', async () => {
    service.script(floods);
    const error = await failureOf(client({ maxRetries: 0 }).send(INPUT));
    expect(error).toMatchObject({ message: expect.stringContaining('too long') });
  });
});

describe('status and signupSettings', () => {
  it('make one request, also if it fails', async () => {
    service.script(problem(500, 'internal_error'));
    await expect(client().status('the-send')).rejects.toThrow(ProblemError);
    service.script(resets);
    await expect(client().signupSettings()).rejects.toThrow(ConnectionError);
    expect(service.requests.map(({ path }) => path)).toEqual([
      '/v1/send/the-send/status',
      '/v1/signup-settings',
    ]);
  });

  it('send no key for the sign-up settings', async () => {
    service.script(json(200, { free_sends: 10 }));
    await expect(client().signupSettings()).resolves.toEqual({ free_sends: 10 });
    expect(service.requests[0]?.headers.authorization).toBeUndefined();
  });

  it('return a channel and a failure reason of a later release', async () => {
    const send = aSend({ status: 'failed', channel: 'sms', failure_reason: 'of_a_later_release' });
    service.script(json(200, send));
    await expect(client().status('the-send')).resolves.toEqual(send);
  });

  it.each([
    ['a page', text(200, '<html>')],
    ['a send with 202', json(202, aSend())],
    ['a send without a state', json(200, { ...aSend(), status: undefined })],
  ])('throw for %s instead of a send', async (_, behaviour) => {
    service.script(behaviour);
    await expect(client().status('the-send')).rejects.toThrow(ConnectionError);
  });
});

const soon = (ms: number): string => new Date(Date.now() + ms).toISOString();

describe('waitFor', () => {
  it('returns the send in the awaited state, and reports each change once', async () => {
    const queued = aSend();
    const sent = { ...queued, status: 'sent' as const, sent_at: soon(0) };
    service.script(json(200, queued), json(200, queued), json(200, sent));
    const updates: Send[] = [];
    await expect(
      client().waitFor('the-send', { until: 'sent', onUpdate: (send) => void updates.push(send) }),
    ).resolves.toEqual(sent);
    expect(updates).toEqual([queued, sent]);
    expect(service.requests).toHaveLength(3);
  });

  it.each([
    ['sent', { status: 'read' }],
    ['delivered', { status: 'read' }],
    ['sent', { status: 'delivered' }],
    ['read', { status: 'read' }],
    [
      'delivered',
      { status: 'failed', failed_at: '2026-01-01T00:00:00Z', failure_reason: 'rejected_by_provider' },
    ],
    ['delivered', { status: 'sent', verification: 'expired' }],
  ] as const)('ends the wait for %s at %j', async (until, fields) => {
    const send = aSend(fields);
    service.script(json(200, send));
    await expect(client().waitFor('the-send', { until })).resolves.toEqual(send);
    expect(service.requests).toHaveLength(1);
  });

  it('ends at the deadline by the server’s clock, not the local clock', async () => {
    const passed = aSend({ expires_at: '2020-01-01T00:10:00Z' });
    service.script(json(200, passed, { date: new Date('2020-01-01T00:09:59Z').toUTCString() }));
    await expect(client().waitFor('the-send', { until: 'sent' })).resolves.toEqual(passed);
    // One read before the deadline, and one after it.
    expect(service.requests).toHaveLength(2);
  });

  it('ends at the deadline by the local clock if the response has no Date header', async () => {
    const send = aSend({ expires_at: soon(-1) });
    service.script((response, request) => {
      response.sendDate = false;
      json(200, send)(response, request);
    });
    await expect(client().waitFor('the-send', { until: 'sent' })).resolves.toEqual(send);
    expect(service.requests).toHaveLength(1);
  });

  it('continues after a failed read', async () => {
    const sent = aSend({ status: 'sent' });
    service.script(resets, json(200, aSend()), problem(500, 'internal_error'), json(200, sent));
    await expect(client().waitFor('the-send', { until: 'sent' })).resolves.toEqual(sent);
  });

  it('fails when the last read before the deadline fails', async () => {
    service.script(json(200, aSend({ expires_at: soon(1_500) })), resets);
    await expect(client().waitFor('the-send', { until: 'sent' })).rejects.toThrow(ConnectionError);
  });

  it('fails after maxRetries failed reads', async () => {
    service.script(resets);
    const onecode = client({ maxRetries: 1 });
    await expect(onecode.waitFor('the-send', { until: 'sent' })).rejects.toThrow(ConnectionError);
    expect(service.requests).toHaveLength(2);
  });

  it('fails immediately after an error that a retry cannot fix', async () => {
    service.script(problem(404, 'send_not_found'));
    await expect(client().waitFor('the-send', { until: 'sent' })).rejects.toThrow(ProblemError);
    expect(service.requests).toHaveLength(1);
  });

  it('refuses a state that is not a delivery state', async () => {
    await expect(client().waitFor('the-send', { until: 'verified' as 'sent' })).rejects.toThrow(OnecodeError);
    expect(service.requests).toHaveLength(0);
  });

  it.each([undefined, null, 'sent'])('refuses %j instead of options', async (options) => {
    const waited = client().waitFor('the-send', options as unknown as { until: 'sent' });
    await expect(waited).rejects.toThrow(new OnecodeError('waitFor needs { until }.'));
    expect(service.requests).toHaveLength(0);
  });
});
