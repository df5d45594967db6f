import { Redis } from 'ioredis';
import { RedisServers, startCluster, startSentinel, type Topology } from '../../redis/redisServers.js';
import type { FaultCluster } from '../cluster/faultCluster.js';
import type { Fault } from './fault.js';

const DOWN = { apis: true, workers: false };
const FROZEN_MS = 4_000;

const redisFault = (name: string, fault: Omit<Fault, 'name' | 'family' | 'answers'>): Fault => ({
  name: `Redis ${name}`,
  family: 'redis',
  answers: 'always',
  ...fault,
});

async function restartProcesses(cluster: FaultCluster): Promise<void> {
  for (const process of cluster.processes) process.kill();
  await cluster.untilReady();
}

/** A fault of Redis servers that replace a master. The processes use these servers during the fault. */
const failOver = (
  name: string,
  start: (servers: RedisServers) => Promise<Topology>,
  /** Stops the master. @returns a function that starts it again */
  take: (topology: Topology) => Promise<() => Promise<void>>,
): Fault => {
  let topology: Topology;
  return {
    ...redisFault(name, {
      holdMs: 4_000,
      ready: { apis: true },
      // Servers wait for a silent master before they replace it.
      recoveryMs: 10_000,
      async inject() {
        const bringBack = await take(topology);
        return async () => {
          await bringBack();
          await topology.untilComplete();
        };
      },
    }),
    async prepare(cluster) {
      const servers = new RedisServers();
      topology = await start(servers);
      await cluster.moveToRedis(topology.url);
      return async () => {
        await cluster.moveToRedis(null);
        await servers.close();
      };
    },
  };
};

/** The key of which the processes' queues have the slot. */
const QUEUES_KEY = '{onecode}:deliver';

async function killMaster(topology: Topology): Promise<() => Promise<void>> {
  const master = await topology.master();
  await master.kill();
  await topology.untilReplaced(master);
  return () => master.restart();
}

/** As when its machine hangs: the connections to it stay open. */
async function freezeMaster(topology: Topology): Promise<() => Promise<void>> {
  const master = await topology.master();
  master.freeze();
  await topology.untilReplaced(master);
  return async () => master.resume();
}

export const REDIS_FAULTS: readonly Fault[] = [
  redisFault('stopped', {
    holdMs: 3_000,
    ready: DOWN,
    async inject({ services }) {
      await services.stopRedis();
      return () => services.startRedis();
    },
  }),
  redisFault('frozen', {
    holdMs: FROZEN_MS - 500,
    ready: DOWN,
    async inject({ services }) {
      const awake = services.freezeRedis(FROZEN_MS);
      return () => awake;
    },
  }),
  redisFault('restarted empty', {
    holdMs: 0,
    async inject({ services }) {
      await services.stopRedis();
      await services.startRedis({ empty: true });
      return async () => {};
    },
  }),
  redisFault('flushed under load', {
    holdMs: 2_000,
    async inject({ services }, random) {
      const redis = new Redis(services.redisUrl);
      for (let n = random.between(2, 6); n > 0; n--) await redis.flushall();
      redis.disconnect();
      return async () => {};
    },
  }),
  failOver('Sentinel: master killed', startSentinel, killMaster),
  failOver('Sentinel: master frozen, is a replica when it is back', startSentinel, freezeMaster),
  failOver('Cluster: master killed', (servers) => startCluster(servers, QUEUES_KEY), killMaster),
  failOver(
    'Cluster: master frozen, is a replica when it is back',
    (servers) => startCluster(servers, QUEUES_KEY),
    freezeMaster,
  ),
  {
    ...redisFault('absent when API and worker start', {
      holdMs: 1_500,
      ready: DOWN,
      async inject(cluster) {
        await cluster.services.stopRedis();
        await restartProcesses(cluster);
        return () => cluster.services.startRedis();
      },
    }),
  },
];
