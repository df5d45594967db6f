import type { Socket } from 'node:net';
import type { Outcome } from '@onecode/domain';
import { closedPort, startTcpServer } from '@onecode/testing';
import fc from 'fast-check';
import { createCloudApi } from '../src/client.js';
import { messageBody } from '../src/index.js';
import { messageIdOf } from '../src/message.js';
import { ACCEPTED, closeProviders, MESSAGE, send, SENDER, sendTo, startProvider } from './provider.js';

afterEach(closeProviders);

describe('sendCode', () => {
  it('posts the documented body with a bearer token to the messages of the phone number id', async () => {
    const provider = await startProvider((response) => response.end(JSON.stringify(ACCEPTED)));
    await send(`${provider.baseUrl}/`);

    expect(provider.requests).toHaveLength(1);
    const [request] = provider.requests;
    expect(request).toMatchObject({
      method: 'POST',
      url: '/v25.0/106540352242922/messages',
      headers: {
        authorization: 'Bearer leaked-token',
        'content-type': 'application/json',
        'accept-encoding': 'identity',
      },
    });
    expect(request?.headers['content-length']).toBe(String(request?.body.length));
    expect(JSON.parse(request?.body ?? '')).toEqual(messageBody(MESSAGE));
  });

  it('is not posted with a token that does not fit a header', async () => {
    const provider = await startProvider((response) => response.end());
    const api = createCloudApi({ baseUrl: provider.baseUrl, timeoutMs: 5_000 });
    expect(await api.sendCode({ ...SENDER, token: 'a\r\nx: y' }, MESSAGE)).toMatchObject({ kind: 'retry' });
    expect(provider.requests).toHaveLength(0);
  });
});

describe('a response with a message id', () => {
  it.each([undefined, 'accepted', 'held_for_quality_assessment', 'paused'])(
    'is an acceptance when message_status is %s',
    async (message_status) => {
      const outcome = await sendTo(200, { messages: [{ id: 'wamid.ABC=', message_status }] });
      const held = message_status === 'accepted' ? {} : { messageStatus: message_status };
      expect(outcome).toEqual({ kind: 'accepted', messageId: messageIdOf('wamid.ABC='), ...held });
    },
  );

  it('is not an acceptance with an HTTP error status', async () => {
    expect(await sendTo(500, ACCEPTED)).toMatchObject({ kind: 'unknown' });
    expect(await sendTo(400, ACCEPTED)).toMatchObject({ kind: 'retry', throttled: 'none' });
  });
});

describe('a success without a usable message id', () => {
  it.each<[string, unknown]>([
    ['an empty object', {}],
    ['no JSON', '<html>'],
    ['cut JSON', '{"messages":[{"id":"wamid.A'],
    ['no messages', { messages: [] }],
    ['a null message', { messages: [null] }],
    ['an id of 513 characters', { messages: [{ id: 'w'.repeat(513) }] }],
    ['an unknown error code', { error: { code: 999_999 } }],
  ])('has the outcome `unknown`: %s', async (_, body) => {
    expect(await sendTo(200, body)).toMatchObject({ kind: 'unknown' });
  });
});

describe('an error response', () => {
  it.each<[number, unknown, Partial<Outcome>]>([
    [500, { code: 3 }, { kind: 'config', errorCode: 3 }],
    [200, { code: 131026 }, { kind: 'recipient', errorCode: 131026 }],
    [400, { code: '131056' }, { kind: 'retry', errorCode: 131056 }],
    [400, { code: 100, error_subcode: 33 }, { kind: 'sender', errorCode: 100 }],
    [400, { code: 1e12 }, { kind: 'retry', errorCode: null }],
    [400, { code: 500_000, is_transient: true }, { kind: 'retry', errorCode: 500_000 }],
    [400, { code: 100, is_transient: true }, { kind: 'retry', errorCode: 100 }],
    [502, '<html>Bad gateway</html>', { kind: 'unknown', errorCode: null }],
  ])('is classified by its code before its HTTP status: HTTP %i with %j', async (status, error, expected) => {
    expect(await sendTo(status, typeof error === 'string' ? error : { error })).toMatchObject(expected);
  });

  it('leads to an outcome without the provider’s text, the token, the code and the number', async () => {
    const quoting = `${SENDER.token} ${MESSAGE.to} ${MESSAGE.code}`;
    for (const code of [100, 131026, 130429, 190, 999_999, null]) {
      const outcome = await sendTo(400, {
        error: { code, message: quoting, error_data: { details: quoting } },
      });
      expect(JSON.stringify(outcome)).not.toMatch(/leaked-token|5511987654321|042913/);
    }
  });
});

describe('Retry-After', () => {
  it.each<[string, number | null]>([
    ['0', 0],
    ['30', 30],
    ['-5', null],
    ['1.5', null],
    ['soon', null],
    ['Thu, 01 Jan 2026 00:00:20 GMT', null],
    ['', null],
  ])('"%s" is read as %s', async (value, expected) => {
    const outcome = await sendTo(400, { error: { code: 130429 } }, { 'retry-after': value });
    expect(outcome).toMatchObject({ retryAfterSeconds: expected });
  });

  it('is returned in seconds with the outcome `retry`', async () => {
    const error = { error: { code: 130429 } };
    expect(await sendTo(400, error, { 'retry-after': '7' })).toMatchObject({ retryAfterSeconds: 7 });
    expect(await sendTo(400, error)).toMatchObject({ retryAfterSeconds: null });
    expect(await sendTo(429, {}, { 'retry-after': '7' })).toMatchObject({
      kind: 'retry',
      throttled: 'sender',
      retryAfterSeconds: 7,
    });
  });
});

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('is a configuration fault, and is not followed: %i', async (status) => {
    const elsewhere = await startProvider((response) => response.end(JSON.stringify(ACCEPTED)));
    const outcome = await sendTo(status, ACCEPTED, { location: elsewhere.baseUrl });
    expect(outcome).toMatchObject({ kind: 'config', scope: 'token', errorCode: null });
    expect(elsewhere.requests).toHaveLength(0);
  });
});

describe('the response body', () => {
  const answerOf = (bytes: number) => JSON.stringify(ACCEPTED).padEnd(bytes);

  it('is read up to 2 MiB', async () => {
    expect(await sendTo(200, answerOf(2_097_152))).toMatchObject({ kind: 'accepted' });
    expect(await sendTo(200, answerOf(2_097_153))).toMatchObject({ kind: 'unknown' });
  });

  it('is abandoned and its connection closed if it never ends', async () => {
    let closed: Promise<unknown> = Promise.reject(new Error('no request came'));
    closed.catch(() => {});
    const provider = await startProvider((response) => {
      closed = new Promise((resolve) => response.on('close', resolve));
      const flood = () => {
        while (!response.destroyed && response.write('x'.repeat(16_384)));
      };
      response.on('drain', flood);
      flood();
    });
    expect(await send(provider.baseUrl)).toMatchObject({ kind: 'unknown', errorCode: null });
    await closed;
  });
});

it('sendCode returns an outcome for any status and body', async () => {
  let next = { status: 200, body: '' };
  const provider = await startProvider((response) => response.writeHead(next.status).end(next.body));
  const kinds = ['accepted', 'retry', 'unknown', 'sender', 'recipient', 'config'];
  const code = fc.oneof(fc.integer(), fc.jsonValue(), fc.constantFrom(0, 4, 100, 190, 250, 131026, 131056));
  const body = fc.oneof(
    fc.json(),
    fc.string(),
    fc.record({ error: fc.record({ code, error_subcode: code }) }).map((answer) => JSON.stringify(answer)),
    fc.record({ messages: fc.jsonValue() }).map((answer) => JSON.stringify(answer)),
  );
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 200, max: 599 }), body, async (status, text) => {
      next = { status, body: text };
      const outcome = await send(provider.baseUrl);
      expect(kinds).toContain(outcome.kind);
    }),
    { numRuns: 200 },
  );
});

describe('sendCode before the request is written', () => {
  const retried = { kind: 'retry', errorCode: null, throttled: 'none', retryAfterSeconds: null };

  it('returns `retry` when the connection is refused', async () => {
    const outcome = await send(`http://127.0.0.1:${await closedPort()}`);
    expect(outcome).toEqual({
      ...retried,
      reason: 'No connection to the provider could be made (ECONNREFUSED).',
    });
  });

  it('returns `retry` when the host name cannot be resolved', async () => {
    // A label of 64 characters is invalid, so the resolver fails without a network request.
    const outcome = await send(`http://${'a'.repeat(64)}.test`);
    expect(outcome).toMatchObject({
      ...retried,
      reason: expect.stringMatching(/\((?:ENOTFOUND|EAI_AGAIN)\)/),
    });
  });

  it('returns `retry` when TLS fails', async () => {
    const plain = await startProvider((response) => response.end());
    expect(await send(`https://127.0.0.1:${plain.port}`)).toMatchObject(retried);
    expect(plain.requests).toHaveLength(0);
  });

  it('returns `retry` when the TLS handshake is aborted', async () => {
    const port = await startTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect(await send(`https://127.0.0.1:${port}`)).toMatchObject(retried);
  });

  it('returns `retry` when the connection times out', async () => {
    const port = await startTcpServer();
    const outcome = await send(`https://127.0.0.1:${port}`, 150);
    expect(outcome).toEqual({ ...retried, reason: 'No connection to the provider could be made in time.' });
  });
});

describe('sendCode after the request is written', () => {
  it('returns `unknown` when the response times out', async () => {
    const provider = await startProvider(() => {});
    const outcome = await send(provider.baseUrl, 500);
    expect(outcome).toEqual({
      kind: 'unknown',
      errorCode: null,
      reason: 'The provider did not respond in time.',
    });
    expect(provider.requests).toHaveLength(1);
  });

  it('returns `unknown` when the response starts but does not end in time', async () => {
    const provider = await startProvider((response) => response.writeHead(200).write('{"messages":'));
    const outcome = await send(provider.baseUrl, 500);
    expect(outcome).toMatchObject({ kind: 'unknown', reason: 'The provider did not respond in time.' });
  });

  it('returns `unknown` when the connection is reset before the request was read', async () => {
    const port = await startTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect(await send(`http://127.0.0.1:${port}`)).toMatchObject({ kind: 'unknown' });
  });

  it.each<[string, (socket: Socket) => unknown]>([
    ['reset', (socket) => socket.resetAndDestroy()],
    ['closed without an answer', (socket) => socket.end()],
  ])(
    'returns `unknown`, and does not send again, when the connection is %s after the request was read',
    async (_, end) => {
      const provider = await startProvider((response) => void end(response.socket!));
      expect(await send(provider.baseUrl)).toMatchObject({ kind: 'unknown' });
      expect(provider.requests).toHaveLength(1);
    },
  );

  it('returns `unknown` when the response is truncated', async () => {
    const provider = await startProvider((response) => {
      response.writeHead(200, { 'content-length': '1000' }).write(JSON.stringify(ACCEPTED), () => {
        response.socket?.resetAndDestroy();
      });
    });
    expect(await send(provider.baseUrl)).toMatchObject({ kind: 'unknown' });
  });

  it('returns `unknown` when the response is not HTTP', async () => {
    const port = await startTcpServer((socket) => socket.once('data', () => socket.end('nonsense\r\n\r\n')));
    expect(await send(`http://127.0.0.1:${port}`)).toMatchObject({ kind: 'unknown' });
  });
});

it('sendCode is not delayed by another call that gets no response', async () => {
  const silentTo = '+5511987650000';
  const provider = await startProvider((response, { body }) => {
    if (!body.includes(silentTo)) response.end(JSON.stringify(ACCEPTED));
  });
  const api = createCloudApi({ baseUrl: provider.baseUrl, timeoutMs: 3_000 });
  const silent = api.sendCode(SENDER, { ...MESSAGE, to: silentTo });
  expect(await api.sendCode(SENDER, MESSAGE)).toMatchObject({ kind: 'accepted' });
  expect(await silent).toMatchObject({ kind: 'unknown' });
});
