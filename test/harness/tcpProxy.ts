import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP server that stands in front of another one and can make it look down or frozen. */
export interface TcpProxy {
  /** The target's address by way of the proxy, with its user and password. */
  url: string;
  /** Passes everything on, as at the start. */
  open(): void;
  /** Cuts every connection, and new ones at once. */
  cut(): void;
  /** Keeps connections open and takes new ones, but passes nothing on any more. */
  freeze(): void;
  close(): Promise<void>;
}

/** Starts a proxy, on a free port, to a service of this machine. */
export async function startTcpProxy(targetUrl: string, state: 'open' | 'cut' = 'open'): Promise<TcpProxy> {
  const target = new URL(targetUrl);
  let current: 'open' | 'cut' | 'frozen' = state;
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    if (current === 'cut') return void client.resetAndDestroy();
    keep(client);
    if (current === 'frozen') return void client.pause();
    const upstream = keep(connect(Number(target.port), '127.0.0.1'));
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', (chunk: Buffer) => void (current === 'open' && to.write(chunk)));
      from.on('close', () => to.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cutAll = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const through = new URL(target);
  through.port = String((server.address() as AddressInfo).port);
  return {
    url: through.href,
    open() {
      // What was frozen has lost bytes, so its connections cannot go on.
      if (current === 'frozen') cutAll();
      current = 'open';
    },
    cut() {
      current = 'cut';
      cutAll();
    },
    freeze() {
      current = 'frozen';
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      cutAll();
      await closed;
    },
  };
}
