import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import {
  buildCaller,
  makeCertificates,
  ProcessStack,
  STACK_START_MS_MAX,
  startConnectProxy,
  type ConnectProxy,
} from '@onecode/testing';

const PROVIDER = 'graph.test';

describe('a worker with HTTPS_PROXY', () => {
  let folder: string;
  let proxy: ConnectProxy;
  let stack: ProcessStack;
  /** Ends TLS for the provider and forwards to the simulator at a port that is set later. */
  let provider: ReturnType<typeof createServer>;
  let simulatorPort = 0;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'onecode-proxy-'));
    const { certificate, key, caFile } = makeCertificates(folder, [PROVIDER]);
    provider = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (socket) => {
      const upstream = connect(simulatorPort, '127.0.0.1');
      socket.on('error', () => upstream.destroy()).pipe(upstream);
      upstream.on('error', () => socket.destroy()).pipe(socket);
    });
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    const { port } = provider.address() as AddressInfo;
    proxy = await startConnectProxy((target) => (target === `${PROVIDER}:443` ? port : -403));
    stack = await ProcessStack.start({
      env: {
        HTTPS_PROXY: proxy.url.replace('//', '//user:p%40ss@'),
        NO_PROXY: 'other.test',
        NODE_EXTRA_CA_CERTS: caFile,
      },
      provider: (simulatorUrl) => {
        simulatorPort = Number(new URL(simulatorUrl).port);
        return Promise.resolve(`https://${PROVIDER}`);
      },
    });
  }, STACK_START_MS_MAX);
  afterAll(async () => {
    await stack.stop();
    await proxy.close();
    provider.close();
    rmSync(folder, { recursive: true });
  });

  it('sends codes through the proxy, which opens tunnels only to the provider', async () => {
    const { key } = await buildCaller(stack.db.database, 'live', { freeQuota: 10 });
    await stack.addSender();
    const to = '+5511987654321';
    const { id } = await stack.create(key, { to });
    await stack.untilStatus(key, id, 'delivered');
    expect((await stack.simulator.message(to)).code).toMatch(/^\d{6}$/);
    const authorization = `Basic ${Buffer.from('user:p@ss').toString('base64')}`;
    expect(proxy.requests.length).toBeGreaterThan(0);
    expect(proxy.requests).toEqual(proxy.requests.map(() => ({ target: `${PROVIDER}:443`, authorization })));
  });
});
