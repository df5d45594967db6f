import type { TcpProxy } from '@onecode/testing';
import type { Links } from '../house/house.js';
import type { Fault } from './fault.js';

const PAIRS: readonly { pair: keyof Links; between: string; ready?: Fault['ready'] }[] = [
  { pair: 'clients', between: 'clients and API' },
  { pair: 'apiPostgres', between: 'API and PostgreSQL', ready: { apis: false, workers: true } },
  { pair: 'apiRedis', between: 'API and Redis', ready: { apis: true } },
  { pair: 'workerPostgres', between: 'worker and PostgreSQL', ready: { apis: true, workers: false } },
  { pair: 'workerRedis', between: 'worker and Redis', ready: { apis: true, workers: false } },
  { pair: 'workerProvider', between: 'worker and provider', ready: { apis: true, workers: true } },
  { pair: 'webhooks', between: 'provider and webhooks', ready: { apis: true, workers: true } },
];

const TROUBLES: readonly { name: string; silent: boolean; make: (proxy: TcpProxy) => void }[] = [
  { name: 'latency of 100 ms each way', silent: false, make: (proxy) => proxy.slow(100) },
  { name: 'requests lost on the way', silent: true, make: (proxy) => proxy.freeze('requests') },
  { name: 'answers lost on the way', silent: true, make: (proxy) => proxy.freeze('replies') },
  { name: 'replies cut', silent: true, make: (proxy) => proxy.cutReplies() },
];

export const NETWORK: readonly Fault[] = PAIRS.flatMap(({ pair, between, ready }) =>
  TROUBLES.map(({ name, silent, make }) => ({
    name: `between ${between}: ${name}`,
    family: 'network' as const,
    holdMs: 2_500,
    ...(silent && ready !== undefined && { ready }),
    async inject({ links }: Parameters<Fault['inject']>[0]) {
      const proxies = [links[pair]].flat();
      for (const proxy of proxies) make(proxy);
      return async () => {
        await Promise.all(proxies.map((proxy) => proxy.open()));
      };
    },
  })),
);
