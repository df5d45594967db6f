import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { runningUntilEnd } from './running.js';

/** `requests` go from the client to the target, and `replies` from the target to the client. */
type Direction = 'requests' | 'replies';

/** A TCP proxy in front of a server, which can make the server appear unavailable, frozen, slow or unreachable. */
export interface TcpProxy {
  /** The target's address through the proxy, with its user and password. */
  url: string;
  /** Passes on all data, including data that was held back. This is the initial state. */
  open(): Promise<void>;
  /** Resets every connection, and new connections immediately. */
  cut(): void;
  /** Resets the existing connections. New ones are treated as before. */
  hangUp(): void;
  /** Passes on requests, and resets each connection at the first byte of a response. */
  cutReplies(): void;
  /** Closes every connection and stops listening, so that new ones are refused. */
  refuse(): Promise<void>;
  /** Keeps connections open and accepts new ones, but holds their data back, in both directions or in one. */
  freeze(direction?: Direction): void;
  /** Delays all data by this many milliseconds in each direction. */
  slow(latencyMs: number): void;
  /** Freezes the existing connections, or the last used one, permanently, as if a network path were lost. New connections work. */
  abandon(which?: 'all' | 'latest'): void;
  /** Connects new clients to another port. The port 0 resets them. */
  retarget(port: number): void;
  close(): Promise<void>;
}

const running = runningUntilEnd<TcpProxy>((proxy) => void proxy.close());

/** Starts a proxy on a free port in front of a service on this machine. It runs until it is closed or the test file ends. */
export async function startTcpProxy(targetUrl: string, state: 'open' | 'cut' = 'open'): Promise<TcpProxy> {
  const target = new URL(targetUrl);
  let targetPort = Number(target.port || (target.protocol.startsWith('redis') ? 6379 : 5432));
  let current: 'open' | 'cut' | 'replies cut' = state;
  let frozen: readonly Direction[] = [];
  let latencyMs = 0;
  const flows = new Set<Flow>();
  const abandoned = new WeakSet<Flow>();
  /** The client's socket of the last used connection. */
  let latest: Socket | undefined;
  const server = createServer((client) => {
    if (current === 'cut' || targetPort === 0) return void client.resetAndDestroy();
    const upstream = connect(targetPort, target.hostname);
    for (const [direction, from, to] of [
      ['requests', client, upstream],
      ['replies', upstream, client],
    ] as const) {
      const flow = { direction, from, client };
      flows.add(flow);
      const later = createDelayLine(() => latencyMs);
      from.on('data', (chunk: Buffer) => {
        latest = client;
        if (direction === 'replies' && current === 'replies cut') return reset([client, upstream]);
        later(() => void to.write(chunk));
      });
      from.on('error', () => {});
      from.on('close', () => {
        flows.delete(flow);
        later(() => to.destroy());
      });
      if (frozen.includes(direction)) from.pause();
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
  const sockets = (): Socket[] => [...flows].map(({ from }) => from);
  const proxy: TcpProxy = {
    url: through.href,
    async open() {
      current = 'open';
      frozen = [];
      latencyMs = 0;
      for (const flow of flows) if (!abandoned.has(flow)) flow.from.resume();
      if (!server.listening) await listen(port);
    },
    cut() {
      current = 'cut';
      reset(sockets());
    },
    hangUp() {
      reset(sockets());
    },
    cutReplies() {
      current = 'replies cut';
    },
    async refuse() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets()) socket.destroy();
      await closed;
    },
    freeze(direction) {
      frozen = direction === undefined ? ['requests', 'replies'] : [direction];
      for (const flow of flows) if (frozen.includes(flow.direction)) flow.from.pause();
    },
    slow(ms) {
      latencyMs = ms;
    },
    abandon(which = 'all') {
      for (const flow of flows) {
        if (which === 'latest' && flow.client !== latest) continue;
        abandoned.add(flow);
        flow.from.pause();
      }
    },
    retarget(port) {
      targetPort = port;
    },
    async close() {
      running.delete(proxy);
      const closed = new Promise((resolve) => server.close(resolve));
      reset(sockets());
      await closed;
    },
  };
  running.add(proxy);
  return proxy;
}

interface Flow {
  direction: Direction;
  from: Socket;
  client: Socket;
}

function reset(sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.resetAndDestroy();
}

/** Returns a function that delays each action by the latency at the time of its call. Actions keep their order. */
function createDelayLine(latencyMs: () => number): (act: () => void) => void {
  const waiting: { at: number; act: () => void }[] = [];
  const next = (): void => {
    const [first] = waiting;
    if (first === undefined) return;
    setTimeout(
      () => {
        first.act();
        waiting.shift();
        next();
      },
      Math.max(0, first.at - performance.now()),
    );
  };
  return (act) => {
    if (waiting.length === 0 && latencyMs() === 0) return act();
    waiting.push({ at: performance.now() + latencyMs(), act });
    if (waiting.length === 1) next();
  };
}
