import { closedPort, startTcpServer } from '@onecode/testing';
import { fetch as undiciFetch } from 'undici';
import {
  json,
  KEY,
  OPEN_VERIFICATIONS,
  problem,
  RIGHT,
  useService,
  WRONG,
} from '@onecode/testing/breaking-service';
import { startOnecode, type OnecodeServer } from '../src/testing/index.js';
import {
  addSendId,
  ConnectionError,
  IndeterminateVerificationError,
  normalizeCode,
  Onecode,
  OnecodeError,
  ProblemError,
  type Fetch,
  type OnecodeOptions,
} from '../src/index.js';

const service = useService();
const client = (options: Partial<OnecodeOptions> = {}): Onecode =>
  new Onecode({ apiKey: KEY, baseUrl: service.url, ...options });

/** Node's fetch, and the newest one that programs install instead. */
const FETCHES: [string, Fetch | undefined][] = [
  ['Node’s fetch', undefined],
  ['undici’s fetch', undiciFetch],
];

describe('normalizeCode', () => {
  it.each([
    ['000 000', '000000'],
    ['000-000', '000000'],
    ['\u0660\u0660\u0660\u0660\u0660\u0660', '000000'],
    ['\u2066 12\u00a034\u201056\u2069\n', '123456'],
    ['\uff11\uff12\u2212\u{1d7ce}\u{1d7ff}', '1209'],
    ['12a4', '12a4'],
    ['', ''],
  ])('normalizes %j to %j', (typed, code) => expect(normalizeCode(typed)).toBe(code));

  it('accepts the digits of any script', () => {
    const written = Intl.supportedValuesOf('numberingSystem')
      .map((system) => new Intl.NumberFormat(`en-u-nu-${system}`, { useGrouping: false }).format(1234567890))
      .filter((digits) => /^\p{Nd}{10}$/u.test(digits));
    expect(new Set(written).size).toBeGreaterThan(50);
    expect(new Set(written.map(normalizeCode))).toEqual(new Set(['1234567890']));
  });

  it('throws if the code is not a string', () => {
    expect(() => normalizeCode(undefined as unknown as string)).toThrow(OnecodeError);
  });
});

describe.each(FETCHES)('verify with %s', (_, fetch) => {
  it.each(OPEN_VERIFICATIONS)(
    'makes one request and throws IndeterminateVerificationError after %s',
    async (_, behaviour) => {
      service.script(behaviour);
      const verified = client({ timeoutMs: 500, fetch }).verify('the-send', '004217');
      const error = await verified.catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(IndeterminateVerificationError);
      expect(error).toMatchObject({ sendId: 'the-send' });
      expect(service.requests).toHaveLength(1);
    },
  );

  it('does not resend a request when a kept-alive connection is dead', async () => {
    const verifications: string[] = [];
    let connections = 0;
    const port = await startTcpServer((socket) => {
      connections += 1;
      socket.on('data', (chunk) => {
        if (chunk.toString().startsWith('POST')) {
          verifications.push(chunk.toString());
          return void socket.resetAndDestroy();
        }
        const body = '{"free_sends":10}';
        const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
        socket.write(`${head}\r\n\r\n${body}`);
      });
    });
    const onecode = client({ baseUrl: `http://127.0.0.1:${port}`, fetch });
    // A connection is free a moment after its response. With three connections, at least one is free.
    await Promise.all([onecode.signupSettings(), onecode.signupSettings(), onecode.signupSettings()]);
    const before = connections;
    await expect(onecode.verify('the-send', '004217')).rejects.toThrow(IndeterminateVerificationError);
    expect(verifications).toHaveLength(1);
    expect(connections).toBe(before);
  });

  it.each([
    ['the connection was refused', async () => `http://127.0.0.1:${await closedPort()}`],
    ['the host is unknown', () => 'https://codes.invalid'],
  ])('throws ConnectionError when %s', async (_, findUrl) => {
    const baseUrl = await findUrl();
    await expect(client({ baseUrl, fetch }).verify('the-send', '004217')).rejects.toThrow(ConnectionError);
  });

  it('sends the code as typed, with a Content-Length', async () => {
    service.script(json(200, WRONG));
    await expect(client({ fetch }).verify('a/b ü?', '004217')).resolves.toEqual(WRONG);
    expect(service.requests).toMatchObject([
      { method: 'POST', path: '/v1/send/a%2Fb%20%C3%BC%3F/verify', body: '{"code":"004217"}' },
    ]);
    expect(service.requests[0]?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/json',
      'content-length': '17',
    });
  });
});

describe('verify', () => {
  const failing = (cause: object): Fetch => {
    const error = new TypeError('fetch failed', { cause: Object.assign(new Error('x'), cause) });
    return () => Promise.reject(error);
  };

  it.each([
    { code: 'EHOSTUNREACH', syscall: 'connect' },
    { code: 'ENETUNREACH', syscall: 'connect' },
    { code: 'EAI_AGAIN', syscall: 'getaddrinfo' },
    { code: 'ETIMEDOUT', errors: [{ code: 'ETIMEDOUT', syscall: 'connect' }, {}] },
    { code: 'UND_ERR_CONNECT_TIMEOUT' },
  ])('throws ConnectionError when no connection was made: %j', async (cause) => {
    const error = await client({ fetch: failing(cause) })
      .verify('the-send', '004217')
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConnectionError);
  });

  it.each([
    { code: 'EHOSTUNREACH', syscall: 'read' },
    { code: 'ECONNRESET', syscall: 'write' },
    { code: 'ETIMEDOUT', errors: [] },
    { code: 'UND_ERR_SOCKET' },
    {},
  ])('throws IndeterminateVerificationError when bytes may have been written: %j', async (cause) => {
    const verified = client({ fetch: failing(cause) }).verify('the-send', '004217');
    await expect(verified).rejects.toThrow(IndeterminateVerificationError);
  });

  it.each([
    RIGHT,
    WRONG,
    { valid: false, verification: 'locked', attempts_left: 0 },
    { valid: false, verification: 'expired', attempts_left: 0 },
    { valid: false, verification: 'verified', attempts_left: 0 },
  ])('returns the result %j', async (judgement) => {
    service.script(json(200, judgement, { 'content-type': 'application/json; charset=utf-8' }));
    await expect(client().verify('the-send', '004217')).resolves.toEqual(judgement);
  });

  it('ignores inherited properties of the result', async () => {
    service.script(json(200, {}));
    const polluted = Object.prototype as unknown as Record<string, unknown>;
    try {
      Object.assign(polluted, RIGHT);
      await expect(client().verify('the-send', '004217')).rejects.toThrow(IndeterminateVerificationError);
    } finally {
      for (const name of Object.keys(RIGHT)) delete polluted[name];
    }
  });

  it.each([
    [401, 'invalid_api_key'],
    [404, 'send_not_found'],
    [408, 'request_timeout'],
    [422, 'invalid_json'],
    [429, 'rate_limited'],
    [403, 'of_a_later_release'],
  ])('throws ProblemError after %i %s', async (status, code) => {
    service.script(problem(status, code, { 'x-request-id': 'r-1' }, { errors: { code: 'Must be.' } }));
    const error = await client()
      .verify('the-send', '004217')
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({
      status,
      code,
      detail: 'A detail.',
      requestId: 'r-1',
      errors: { code: 'Must be.' },
    });
    expect(service.requests).toHaveLength(1);
  });

  it('throws IndeterminateVerificationError when its signal is aborted in transit', async () => {
    const controller = new AbortController();
    const reason = new Error('the visitor left');
    service.script(() => controller.abort(reason));
    const error = await client()
      .verify('the-send', '004217', { signal: controller.signal })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(IndeterminateVerificationError);
    expect(error).toMatchObject({ cause: reason });
    expect(service.requests).toHaveLength(1);
  });

  it('makes no request when its signal is already aborted', async () => {
    const signal = AbortSignal.abort('no');
    await expect(client().verify('the-send', '004217', { signal })).rejects.toBe('no');
    expect(service.requests).toHaveLength(0);
  });

  it.each([[''], ['.'], ['..'], ['\ud800'], [undefined], [7]])('refuses the send id %j', async (id) => {
    await expect(client().verify(id as string, '004217')).rejects.toThrow(OnecodeError);
    await expect(client().status(id as string)).rejects.toThrow(OnecodeError);
    expect(service.requests).toHaveLength(0);
  });

  it('refuses a number as a code, because it would lose leading zeros', async () => {
    await expect(client().verify('the-send', 4217 as unknown as string)).rejects.toThrow(OnecodeError);
    expect(service.requests).toHaveLength(0);
  });

  it('times out when fetch never settles', async () => {
    const fetch: Fetch = () => new Promise(() => {});
    await expect(client({ fetch, timeoutMs: 50 }).verify('the-send', '004217')).rejects.toThrow(
      'no answer within 50 ms',
    );
  });
});

describe('addSendId', () => {
  it('keeps the two latest ids, newest first', () => {
    const ids = ['a', 'b', 'c'].reduce<string[]>((kept, id) => addSendId(kept, id), []);
    expect(ids).toEqual(['c', 'b']);
    expect(addSendId(undefined, 'a')).toEqual(['a']);
  });

  it('adds the id of a repeated creation once', () => {
    expect(addSendId(['b', 'a'], 'b')).toEqual(['b', 'a']);
  });
});

describe('verifyLatest', () => {
  const TO = '+447700900123';
  let server: OnecodeServer;
  let onecode: Onecode;
  beforeEach(async () => {
    server = await startOnecode();
    onecode = new Onecode({ apiKey: server.keys.live, baseUrl: server.baseUrl });
  });
  afterEach(() => server.close());
  const send = async () => {
    const { id } = await onecode.send({ to: TO });
    return { id, code: server.lastCode(TO) };
  };

  it('accepts the code of the older send after one wrong guess at the newer send', async () => {
    const [older, newer] = [await send(), await send()];
    expect(await onecode.verifyLatest([newer.id, older.id], older.code)).toMatchObject({ valid: true });
    expect(await onecode.verify(newer.id, older.code)).toMatchObject({ attempts_left: 3 });
  });

  it('makes no guess at the older send if the newer send has the code', async () => {
    const [older, newer] = [await send(), await send()];
    expect(await onecode.verifyLatest([newer.id, older.id], newer.code)).toMatchObject({ valid: true });
    expect(await onecode.verifyLatest([newer.id, older.id], older.code)).toEqual({
      valid: false,
      verification: 'verified',
      attempts_left: 0,
    });
    expect(await onecode.verify(older.id, 'none')).toMatchObject({ attempts_left: 4 });
  });

  it('counts a wrong code on both sends, and returns the result of the newest send with attempts left', async () => {
    const [older, newer] = [await send(), await send()];
    for (let guess = 0; guess < 3; guess += 1) await onecode.verify(newer.id, 'none');
    expect(await onecode.verifyLatest([newer.id, older.id], 'none')).toMatchObject({ attempts_left: 1 });
    expect(await onecode.verifyLatest([newer.id, older.id], 'none')).toMatchObject({
      verification: 'pending',
      attempts_left: 3,
    });
    expect(await onecode.verifyLatest([newer.id], 'none')).toMatchObject({ verification: 'locked' });
  });

  it('makes no second request after an indeterminate result', async () => {
    const [older, newer] = [await send(), await send()];
    server.script(TO, { answer: 'lost', on: 'verify', afterWork: true });
    await expect(onecode.verifyLatest([newer.id, older.id], older.code)).rejects.toMatchObject({
      name: 'IndeterminateVerificationError',
      sendId: newer.id,
    });
    expect(await onecode.verify(older.id, older.code)).toMatchObject({ valid: true });
  });

  it.each([[[]], [['a', 'b', 'c']], ['ab' as unknown as string[]]])(
    'accepts an array of one or two ids, not %j',
    async (ids) => {
      await expect(onecode.verifyLatest(ids, '000000')).rejects.toThrow(OnecodeError);
    },
  );
});
