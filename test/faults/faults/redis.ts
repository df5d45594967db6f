import { Redis } from 'ioredis';
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
