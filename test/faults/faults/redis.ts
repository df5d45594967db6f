import { Redis } from 'ioredis';
import type { House } from '../house/house.js';
import type { Fault } from './fault.js';

const DOWN = { apis: true, workers: false };
const FROZEN_MS = 4_000;

const redisFault = (name: string, fault: Omit<Fault, 'name' | 'family' | 'answers'>): Fault => ({
  name: `Redis ${name}`,
  family: 'redis',
  answers: 'always',
  ...fault,
});

async function restartAll(house: House): Promise<void> {
  for (const one of house.processes) one.kill();
  await house.untilUp();
}

export const REDIS: readonly Fault[] = [
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
  redisFault('FLUSHALL in full flight', {
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
      async inject(house) {
        await house.services.stopRedis();
        await restartAll(house);
        return () => house.services.startRedis();
      },
    }),
  },
];
