import { closedPort, startTcpServer } from '@onecode/testing';
import { createCloudApi } from '../src/client.js';
import { closeProviders, startProvider } from './provider.js';
import { ACCEPTED, MESSAGE, send, SENDER, sendTo } from './sending.js';

afterEach(closeProviders);

describe('before the request is written nothing is lost: the send may be tried again', () => {
  const retried = { kind: 'retry', errorCode: null, throttled: 'none', retryAfterSeconds: null };

  it('when the connection is refused', async () => {
    const outcome = await send(`http://127.0.0.1:${await closedPort()}`);
    expect(outcome).toEqual({ ...retried, reason: 'The provider refused the connection.' });
  });

  it('when the host name cannot be resolved', async () => {
    // A label of 64 characters is no name: the resolver says so without asking the network.
    const outcome = await send(`http://${'a'.repeat(64)}.test`);
    expect(outcome).toEqual({ ...retried, reason: "The provider's host name could not be resolved." });
  });

  it('when TLS fails', async () => {
    const plain = await startProvider((response) => response.end());
    expect(await send(`https://127.0.0.1:${plain.port}`)).toMatchObject(retried);
    expect(plain.requests).toHaveLength(0);
  });

  it('when TLS is broken off', async () => {
    const port = await startTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect(await send(`https://127.0.0.1:${port}`)).toMatchObject(retried);
  });

  it('when no connection stands in time', async () => {
    const port = await startTcpServer();
    const outcome = await send(`https://127.0.0.1:${port}`, 150);
    expect(outcome).toEqual({ ...retried, reason: 'No connection to the provider could be made in time.' });
  });
});

describe('after the request was written nobody knows: the outcome is unknown', () => {
  it('when no answer comes in time', async () => {
    const provider = await startProvider(() => {});
    const started = performance.now();
    const outcome = await send(provider.baseUrl, 500);
    expect(outcome).toEqual({
      kind: 'unknown',
      errorCode: null,
      reason: 'The provider did not answer in time.',
    });
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(provider.requests).toHaveLength(1);
  });

  it('when the answer begins and does not end in time', async () => {
    const provider = await startProvider((response) => response.writeHead(200).write('{"messages":'));
    const outcome = await send(provider.baseUrl, 500);
    expect(outcome).toMatchObject({ kind: 'unknown', reason: 'The provider did not answer in time.' });
  });

  it('when the connection is reset before the request was read', async () => {
    const port = await startTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect(await send(`http://127.0.0.1:${port}`)).toMatchObject({ kind: 'unknown' });
  });

  it('when the connection is reset after the request was read, and it is not sent again', async () => {
    const provider = await startProvider((response) => response.socket?.resetAndDestroy());
    expect(await send(provider.baseUrl)).toMatchObject({ kind: 'unknown' });
    expect(provider.requests).toHaveLength(1);
  });

  it('when the connection is closed without an answer', async () => {
    const provider = await startProvider((response) => response.socket?.end());
    expect(await send(provider.baseUrl)).toMatchObject({ kind: 'unknown' });
  });

  it('when the answer is cut off', async () => {
    const provider = await startProvider((response) => {
      response.writeHead(200, { 'content-length': '1000' }).write(JSON.stringify(ACCEPTED), () => {
        response.socket?.resetAndDestroy();
      });
    });
    expect(await send(provider.baseUrl)).toMatchObject({ kind: 'unknown' });
  });

  it('when the answer is no HTTP', async () => {
    const port = await startTcpServer((socket) => socket.once('data', () => socket.end('nonsense\r\n\r\n')));
    expect(await send(`http://127.0.0.1:${port}`)).toMatchObject({ kind: 'unknown' });
  });

  it('when the answer is not packed as it says', async () => {
    expect(await sendTo(200, ACCEPTED, { 'content-encoding': 'gzip' })).toMatchObject({ kind: 'unknown' });
  });
});

it('tells many sends at once apart, each by its own connection', async () => {
  const provider = await startProvider((response, { body }) => {
    const { to } = JSON.parse(body) as { to: string };
    if (to.endsWith('1')) response.end(JSON.stringify({ messages: [{ id: `wamid.${to}` }] }));
    if (to.endsWith('2')) response.socket?.resetAndDestroy();
  });
  const silent = await startTcpServer();
  const api = createCloudApi({ baseUrl: provider.baseUrl, timeoutMs: 3_000 });
  const unreachable = createCloudApi({ baseUrl: `https://127.0.0.1:${silent}`, timeoutMs: 1_000 });

  const numbers = Array.from({ length: 40 }, (_, index) => `+55119${1000 + index}`);
  const kinds = await Promise.all(
    numbers.map(async (to) => {
      const isUnreachable = to.endsWith('4');
      const outcome = await (isUnreachable ? unreachable : api).sendCode(SENDER, { ...MESSAGE, to });
      return [to, outcome.kind === 'accepted' ? outcome.messageId : outcome.kind];
    }),
  );

  const expected = (to: string) =>
    to.endsWith('1') ? `wamid.${to}` : to.endsWith('4') ? 'retry' : 'unknown';
  expect(kinds).toEqual(numbers.map((to) => [to, expected(to)]));
});
