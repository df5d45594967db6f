import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

const close: Array<() => Promise<void>> = [];

/** Ends every server that the tests of a file have opened here. */
export async function closeServers(): Promise<void> {
  await Promise.all(close.splice(0).map((one) => one()));
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

/** A port of this machine on which nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server, 0);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Takes connections and never says a word. @returns its port */
export async function startSilentServer(): Promise<number> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on('error', () => {})));
  const port = await listen(server, 0);
  close.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return port;
}

/** Stands before a server and lets a test take it away. */
export interface Proxy {
  port: number;
  /** Connections stay open, and nothing more comes through in either direction, on new ones neither. */
  freeze(): void;
  /** What was held up goes on. */
  thaw(): void;
  /** The connections of now are frozen for good, as when a network path is lost; new ones work. */
  abandon(): void;
  /** Breaks every connection and takes no more. */
  cut(): Promise<void>;
  /** Takes connections again, on the same port. */
  restore(): Promise<void>;
}

export async function startProxy(target: { host: string; port: number }): Promise<Proxy> {
  let isFrozen = false;
  let pairs: Socket[][] = [];
  const abandoned: Socket[] = [];

  const join = (client: Socket): void => {
    const upstream = connect(target.port, target.host);
    const pair = [client, upstream];
    pairs.push(pair);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', (chunk) => to.write(chunk));
      from.on('error', () => {});
      from.on('close', () => {
        to.destroy();
        pairs = pairs.filter((one) => one !== pair);
      });
      if (isFrozen) from.pause();
    }
  };
  let server = createServer(join);
  const port = await listen(server, 0);

  const proxy: Proxy = {
    port,
    freeze() {
      isFrozen = true;
      for (const socket of pairs.flat()) socket.pause();
    },
    thaw() {
      isFrozen = false;
      for (const socket of pairs.flat()) socket.resume();
    },
    abandon() {
      for (const socket of pairs.flat()) abandoned.push(socket.pause());
      pairs = [];
    },
    async cut() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of [...pairs.flat(), ...abandoned.splice(0)]) socket.destroy();
      await closed;
    },
    async restore() {
      server = createServer(join);
      await listen(server, port);
    },
  };
  close.push(() => (server.listening ? proxy.cut() : Promise.resolve()));
  return proxy;
}
