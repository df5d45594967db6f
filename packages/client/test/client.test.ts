import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import { aSend, json, KEY, problem, resets, text, useService } from '@onecode/testing/breaking-service';
import { Onecode, OnecodeError } from '../src/index.js';

const service = useService();
const BASE_URL = 'https://codes.example.com';
const make = (options: Record<string, unknown>): Onecode =>
  new Onecode({ apiKey: KEY, baseUrl: BASE_URL, ...options });

const ESCAPED_KEY = KEY.replaceAll('_', '\\u005f');

/** Returns all that inspection and serialization show of a value. */
const shown = (value: unknown): string =>
  [
    inspect(value, { depth: Infinity, showHidden: true, getters: true }),
    inspect({ in: [value] }, { depth: Infinity, showHidden: true }),
    JSON.stringify({ value }),
    String(value),
    value instanceof Error ? `${value.stack} ${value.message}` : '',
    Reflect.ownKeys(Object(value))
      .map((name) => String((value as Record<PropertyKey, unknown>)[name]))
      .join(),
  ].join('\n');

describe('the Onecode constructor', () => {
  it('accepts http for a host that is listed as a test host', () => {
    expect(make({ baseUrl: 'http://onecode:4001', testHosts: ['double', 'onecode'] }).baseUrl).toBe(
      'http://onecode:4001',
    );
  });

  it.each<[string, Record<string, unknown>]>([
    ['without a key', { apiKey: undefined }],
    ['with an empty key', { apiKey: '' }],
    ['with a key of another kind', { apiKey: 'sk_live_0123456789' }],
    ['with a prefix alone', { apiKey: 'ak_live_' }],
    ['with a key of another mode', { apiKey: 'ak_prod_0123456789' }],
    ['with a line break after the key', { apiKey: `${KEY}\n` }],
    ['with a space before the key', { apiKey: ` ${KEY}` }],
    ['with "Bearer" before the key', { apiKey: `Bearer ${KEY}` }],
    ['with a key that is not a string', { apiKey: [KEY] }],
    ['without a base URL', { baseUrl: undefined }],
    ['with a base URL that is not a URL', { baseUrl: 'codes' }],
    ['over http', { baseUrl: 'http://codes.example.com' }],
    ['over http to a private address', { baseUrl: 'http://10.0.0.1' }],
    ['over http to a name that starts with localhost', { baseUrl: 'http://localhost.example.com' }],
    ['over http to a name that starts with 127.0.0.1', { baseUrl: 'http://127.0.0.1.example.com' }],
    [
      'over http to a host that is not a test host',
      { baseUrl: 'http://codes.example.com', testHosts: ['example.com'] },
    ],
    ['over another protocol to a test host', { baseUrl: 'ftp://onecode', testHosts: ['onecode'] }],
    ['with test hosts that are not an array', { testHosts: 'codes.example.com' }],
    ['over another protocol', { baseUrl: 'ftp://localhost' }],
    ['with a user', { baseUrl: `https://${KEY}@codes.example.com` }],
    ['with a password', { baseUrl: `https://user:${KEY}@codes.example.com` }],
    ['with a query', { baseUrl: `${BASE_URL}?key=${KEY}` }],
    ['with an empty query', { baseUrl: `${BASE_URL}/?` }],
    ['with a fragment', { baseUrl: `${BASE_URL}#v1` }],
    ['with /v1 in the base URL', { baseUrl: `${BASE_URL}/v1` }],
    ['with /v1 below another path in the base URL', { baseUrl: `${BASE_URL}/onecode/v1/` }],
    ['with a timeout of zero', { timeoutMs: 0 }],
    ['with a timeout that is not a number', { timeoutMs: '10s' }],
    ['with an infinite timeout', { timeoutMs: Infinity }],
    ['with a negative deadline', { deadlineMs: -1 }],
    ['with a negative number of retries', { maxRetries: -1 }],
    ['with a fractional number of retries', { maxRetries: 0.5 }],
    ['with a fetch that is not a function', { fetch: 'fetch' }],
  ])('throws an error that does not contain the key for a client %s', (_, options) => {
    let error: unknown;
    try {
      make(options);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(OnecodeError);
    expect(shown(error)).not.toContain(KEY);
  });

  it.each([
    BASE_URL,
    `${BASE_URL}/`,
    'https://example.com/onecode/',
    'https://example.com/onecode-v1',
    'https://v1',
    'http://localhost:3000',
    'http://127.0.0.1:3000',
    'http://127.1.2.3',
    'http://[::1]:3000',
    new URL(BASE_URL),
  ])('accepts the base URL %s', (baseUrl) => {
    expect(make({ baseUrl }).baseUrl).toBe(String(baseUrl).replace(/\/$/, ''));
  });

  it('sends requests below the path of the base URL', async () => {
    service.script(json(200, { free_sends: 3 }));
    await make({ baseUrl: `${service.url}/one/code/` }).signupSettings();
    expect(service.requests.map(({ path }) => path)).toEqual(['/one/code/v1/signup-settings']);
  });

  it.each<[string, Record<string, unknown>]>([
    ['a browser page', { window: {}, document: {} }],
    ['a browser page without a window', { document: {} }],
    ['a page with a document only in its window', { window: { document: {} } }],
    ['a web worker', { WorkerGlobalScope: () => {}, importScripts: () => {} }],
  ])('throws in %s', (_, globals) => {
    const before = Object.keys(globals).map((name) => [
      name,
      Object.getOwnPropertyDescriptor(globalThis, name),
    ]);
    Object.assign(globalThis, globals);
    try {
      expect(() => make({})).toThrow('Onecode is for servers');
    } finally {
      for (const [name, descriptor] of before as [string, PropertyDescriptor | undefined][]) {
        Reflect.deleteProperty(globalThis, name);
        if (descriptor !== undefined) Object.defineProperty(globalThis, name, descriptor);
      }
    }
    expect(make({})).toBeInstanceOf(Onecode);
  });

  it('hides the key when the client is printed or cloned', () => {
    const onecode = make({});
    expect(shown(onecode)).not.toContain(KEY);
    expect(shown(onecode)).toContain(BASE_URL);
    expect(inspect(onecode)).toBe(`Onecode { baseUrl: '${BASE_URL}' }`);
    expect(JSON.stringify(structuredClone({ ...onecode }))).not.toContain(KEY);
  });

  it.each<[string, Record<string, unknown>]>([
    ['a reset', { script: resets }],
    [
      'a problem that repeats it',
      {
        script: problem(
          401,
          'invalid_api_key',
          { 'x-request-id': KEY },
          { detail: KEY, errors: { key: KEY } },
        ),
      },
    ],
    [
      'a problem that repeats it in escapes',
      {
        script: text(
          401,
          `{"status":401,"code":"invalid_api_key","detail":"${ESCAPED_KEY}","errors":{"${ESCAPED_KEY}":"${ESCAPED_KEY}"}}`,
          { 'content-type': 'application/problem+json' },
        ),
      },
    ],
    ['a page that repeats it', { script: text(403, `<html>${KEY}`) }],
    [
      'a fetch that throws its own request',
      {
        fetch: (url: string, init: object) => {
          throw Object.assign(new Error(`failed: ${url} ${JSON.stringify(init)}`), { config: init });
        },
      },
    ],
    [
      'a fetch that rejects with its request',
      {
        fetch: (_: string, init: object) =>
          Promise.reject(Object.assign(new TypeError('x', { cause: init }), { init })),
      },
    ],
  ])('hides the key, the code and the number in the errors after %s', async (_, { script, fetch }) => {
    if (script !== undefined) service.script(script as Parameters<typeof service.script>[0]);
    const onecode = make({ baseUrl: service.url, maxRetries: 0, fetch });
    const calls = [
      () => onecode.send({ to: '+447700900123' }),
      () => onecode.status('the-send'),
      () => onecode.verify('the-send', '004217'),
      () => onecode.waitFor('the-send', { until: 'sent' }),
    ];
    for (const call of calls) {
      const error: unknown = await call().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(OnecodeError);
      expect(shown(error)).not.toContain(KEY);
      expect(shown(error)).not.toMatch(/004217|447700900123/);
    }
  });

  it('does not follow redirects', async () => {
    service.script((response) => void response.writeHead(302, { location: `${service.url}/stolen` }).end());
    const onecode = make({ baseUrl: service.url });
    for (const call of [
      () => onecode.send({ to: '+1' }),
      () => onecode.status('x'),
      () => onecode.verify('x', '1'),
      () => onecode.signupSettings(),
    ])
      await expect(call()).rejects.toThrow(OnecodeError);
    expect(service.requests.map(({ path }) => path)).not.toContain('/stolen');
    expect(service.requests).toHaveLength(4);
  });
});

const INPUT = { to: '+447700900123' };
const patient = (): Onecode => make({ baseUrl: service.url, maxRetries: 1 });
/** Returns the number of timers in this process; timers of earlier work may end meanwhile. */
const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

describe('an AbortSignal that several calls share', () => {
  it('has no listeners and timers left after calls of any outcome', async () => {
    const { signal } = new AbortController();
    const before = timers();
    const sent = aSend({ status: 'sent' });
    service.script(
      resets,
      json(202, sent),
      problem(422, 'invalid_recipient'),
      json(200, aSend()),
      json(200, sent),
      resets,
      json(200, sent),
      json(200, { free_sends: 10 }),
    );
    await patient().send(INPUT, { signal });
    await expect(patient().send(INPUT, { signal })).rejects.toThrow(OnecodeError);
    await patient().waitFor('the-send', { until: 'sent', signal });
    await expect(patient().verify('the-send', '004217', { signal })).rejects.toThrow(OnecodeError);
    await patient().status('the-send', { signal });
    await patient().signupSettings({ signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(timers()).toBeLessThanOrEqual(before);
  });

  it('ends 40 concurrent calls with one listener, without a warning about too many listeners', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    // The sends are answered with 429 and wait for their next attempt; the reads get no response.
    let requests = 0;
    service.script((response, request) => {
      requests += 1;
      if (requests <= 20) problem(429, 'rate_limited', { 'retry-after': '10' })(response, request);
      if (requests === 40) controller.abort('enough');
    });
    const waiting = Array.from({ length: 20 }, () => patient().send(INPUT, { signal }));
    const answered = (): boolean => requests === 20;
    while (!answered()) await new Promise((resolve) => setImmediate(resolve));
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    const open = Array.from({ length: 20 }, () => patient().status('the-send', { signal }));
    const ends = await Promise.allSettled([...waiting, ...open]);
    process.off('warning', onWarning);
    expect(ends).toEqual(ends.map(() => ({ status: 'rejected', reason: 'enough' })));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(warnings).toEqual([]);
  });
});

describe('an aborted AbortSignal', () => {
  it('rejects a send with its reason before, during and between attempts', async () => {
    const reason = { why: 'shutting down' };
    const duringTry = new AbortController();
    service.script(() => duringTry.abort(reason));
    await expect(patient().send(INPUT, { signal: duringTry.signal })).rejects.toBe(reason);

    const duringWait = new AbortController();
    service.script((response, request) => {
      response.on('close', () => setImmediate(() => duringWait.abort(reason)));
      problem(429, 'rate_limited', { 'retry-after': '10' })(response, request);
    });
    await expect(patient().send(INPUT, { signal: duringWait.signal })).rejects.toBe(reason);
    expect(service.requests).toHaveLength(2);

    const before = AbortSignal.abort(reason);
    await expect(patient().send(INPUT, { signal: before })).rejects.toBe(reason);
    expect(service.requests).toHaveLength(2);
  });

  it('rejects waitFor with its reason', async () => {
    const controller = new AbortController();
    service.script(json(200, aSend()));
    const waiting = patient().waitFor('the-send', {
      until: 'sent',
      signal: controller.signal,
      onUpdate: () => void setImmediate(() => controller.abort('enough')),
    });
    await expect(waiting).rejects.toBe('enough');
    expect(service.requests).toHaveLength(1);
  });
});
