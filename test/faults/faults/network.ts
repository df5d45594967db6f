import type { TcpProxy } from '@onecode/testing';
import type { FaultCluster, Proxies } from '../cluster/faultCluster.js';
import type { Fault } from './fault.js';

const LINKS: readonly { proxies: keyof Proxies; between: string; ready?: Fault['ready'] }[] = [
  { proxies: 'clients', between: 'clients and API' },
  { proxies: 'apiPostgres', between: 'API and PostgreSQL', ready: { apis: false, workers: true } },
  { proxies: 'apiRedis', between: 'API and Redis', ready: { apis: true } },
  { proxies: 'workerPostgres', between: 'worker and PostgreSQL', ready: { apis: true, workers: false } },
  { proxies: 'workerRedis', between: 'worker and Redis', ready: { apis: true, workers: false } },
  { proxies: 'workerProvider', between: 'worker and provider', ready: { apis: true, workers: true } },
  { proxies: 'webhooks', between: 'provider and webhooks', ready: { apis: true, workers: true } },
];

/** `isSilent`: nothing arrives, so that readiness must show it. */
const DISRUPTIONS: readonly { name: string; isSilent: boolean; apply: (proxy: TcpProxy) => void }[] = [
  { name: 'latency of 100 ms each way', isSilent: false, apply: (proxy) => proxy.slow(100) },
  { name: 'requests lost on the way', isSilent: true, apply: (proxy) => proxy.freeze('requests') },
  { name: 'answers lost on the way', isSilent: true, apply: (proxy) => proxy.freeze('replies') },
  { name: 'replies cut', isSilent: true, apply: (proxy) => proxy.cutReplies() },
];

export const NETWORK_FAULTS: readonly Fault[] = LINKS.flatMap(({ proxies: link, between, ready }) =>
  DISRUPTIONS.map(({ name, isSilent, apply }) => ({
    name: `between ${between}: ${name}`,
    family: 'network' as const,
    holdMs: 2_500,
    ...(isSilent && ready !== undefined && { ready }),
    async inject(cluster: FaultCluster) {
      const proxies = [cluster.proxies[link]].flat();
      for (const proxy of proxies) apply(proxy);
      return async () => {
        await Promise.all(proxies.map((proxy) => proxy.open()));
      };
    },
  })),
);
