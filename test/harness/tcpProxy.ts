import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP server that stands in front of another one and can make it look down or frozen. */
export interface TcpProxy {
  port: number;
  /** Passes everything on, as at the start. */
  open(): void;
  /** Cuts every connection, and new ones at once. */
  cut(): void;
  /** Keeps connections open and takes new ones, but passes nothing on any more. */
  freeze(): void;
  close(): Promise<void>;
}

/** Starts a proxy to a port of this machine, on a free port. */
export async function startTcpProxy(targetPort: number, state: 'open' | 'cut' = 'open'): Promise<TcpProxy> {
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
    const upstream = keep(connect(targetPort, '127.0.0.1'));
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
  return {
    port: (server.address() as AddressInfo).port,
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
