import { closedPort, startConnectProxy, type ConnectProxy } from '@onecode/testing';
import { createCloudApi } from '../src/client.js';
import { ACCEPTED, closeProviders, MESSAGE, SENDER, startProvider } from './provider.js';

const PROVIDER = 'https://graph.test/v25.0';

let proxy: ConnectProxy;
afterEach(async () => {
  await proxy.close();
  await closeProviders();
});

const send = (baseUrl: string, except = '', timeoutMs = 5_000, url = proxy.url) =>
  createCloudApi({ baseUrl, timeoutMs, proxy: { url, except } }).sendCode(SENDER, MESSAGE);

describe('sendCode with a proxy', () => {
  it('bypasses the proxy for http', async () => {
    proxy = await startConnectProxy(() => -403);
    const { baseUrl, requests } = await startProvider((response) => response.end(JSON.stringify(ACCEPTED)));
    expect(await send(baseUrl)).toMatchObject({ kind: 'accepted' });
    expect([requests.length, proxy.requests]).toEqual([1, []]);
  });

  it.each(['graph.test', '.test', '*', 'other.example, TEST', 'graph.test:443'])(
    'bypasses the proxy if NO_PROXY is %j',
    async (except) => {
      proxy = await startConnectProxy(() => -403);
      expect(await send(PROVIDER, except)).toMatchObject({ kind: 'retry' });
      expect(proxy.requests).toEqual([]);
    },
  );
});

describe('a proxy that opens no tunnel', () => {
  const retried = { kind: 'retry', errorCode: null, throttled: 'none', retryAfterSeconds: null };

  it.each(['', 'aph.test', 'graph.test:444', 'graph.test.example'])(
    'is used if NO_PROXY is %j',
    async (except) => {
      proxy = await startConnectProxy(() => -403);
      const reason = 'The proxy refused to connect to the provider.';
      expect(await send(PROVIDER, except)).toEqual({ ...retried, reason });
      expect(proxy.requests).toEqual([{ target: 'graph.test:443', authorization: undefined }]);
    },
  );

  it.each([407, 502, 302])('causes a retry when it responds with %i', async (status) => {
    proxy = await startConnectProxy(() => -status);
    expect(await send(PROVIDER)).toMatchObject({
      ...retried,
      reason: 'The proxy refused to connect to the provider.',
    });
  });

  it('causes a retry when it does not respond in time', async () => {
    proxy = await startConnectProxy(() => null);
    expect(await send(PROVIDER, '', 300)).toMatchObject(retried);
  });

  it('causes a retry when it is unreachable', async () => {
    proxy = await startConnectProxy(() => null);
    const outcome = await send(PROVIDER, '', 5_000, `http://127.0.0.1:${await closedPort()}`);
    expect(outcome).toEqual({
      ...retried,
      reason: 'No connection to the provider could be made (ECONNREFUSED).',
    });
  });
});
