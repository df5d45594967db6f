import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP server that stands in front of another one and can make it look down, frozen or lost. */
export interface TcpProxy {
  /** The target's address by way of the proxy, with its user and password. */
  url: string;
  /** Passes everything on, as at the start. What was held up goes on. */
  open(): Promise<void>;
  /** Resets every connection, and new ones at once. */
  cut(): void;
  /** Ends every connection and listens no more, so that new ones are refused. */
  refuse(): Promise<void>;
  /** Keeps connections open and takes new ones, but holds up all that they carry, in both directions. */
  freeze(): void;
  /** The connections of now are frozen for good, as when a network path is lost; new ones work. */
  abandon(): void;
  close(): Promise<void>;
}

/** Starts a proxy, on a free port, to a service of this machine. */
export async function startTcpProxy(targetUrl: string, state: 'open' | 'cut' = 'open'): Promise<TcpProxy> {
  const target = new URL(targetUrl);
  const targetPort = Number(target.port || (target.protocol.startsWith('redis') ? 6379 : 5432));
  let current: 'open' | 'cut' | 'frozen' = state;
  const sockets = new Set<Socket>();
  const abandoned = new WeakSet<Socket>();
  const server = createServer((client) => {
    if (current === 'cut') return void client.resetAndDestroy();
    const upstream = connect(targetPort, target.hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk: Buffer) => void to.write(chunk));
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      if (current === 'frozen') from.pause();
    }
  });
  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const through = new URL(target);
  through.hostname = '127.0.0.1';
  through.port = String(port);
  return {
    url: through.href,
    async open() {
      current = 'open';
      for (const socket of sockets) if (!abandoned.has(socket)) socket.resume();
      if (!server.listening) await listen(port);
    },
    cut() {
      current = 'cut';
      for (const socket of sockets) socket.resetAndDestroy();
    },
    async refuse() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    freeze() {
      current = 'frozen';
      for (const socket of sockets) socket.pause();
    },
    abandon() {
      for (const socket of sockets) abandoned.add(socket.pause());
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.resetAndDestroy();
      await closed;
    },
  };
}
