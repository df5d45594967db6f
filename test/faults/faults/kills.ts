import { until } from '@onecode/testing';
import { crashStorm } from './crashStorm.js';
import type { Fault } from './fault.js';

const FREEZE_MS_MAX = 30_000;

const atRandom: Fault = {
  name: 'kill -9 at random',
  family: 'kills',
  holdMs: 12_000,
  async inject(house, random) {
    const timer = setInterval(() => {
      const up = house.processes.filter((one) => one.isUp);
      if (up.length > 0) random.of(up).kill();
    }, 700);
    return async () => {
      clearInterval(timer);
      await house.untilUp();
    };
  },
};

/** A worker that sleeps through the end of its leases, and wakes up when others have taken over. */
const stale: Fault = {
  name: 'worker frozen beyond its lease',
  family: 'kills',
  holdMs: 0,
  async inject(house, random) {
    const points = ['worker after claim', 'worker during call', 'worker after call', 'worker before receipt'];
    const sleeper = random.of(house.workers);
    house.handicap = (name) =>
      name === sleeper.name ? { crashPoints: `${random.of(points)}=#${random.between(2, 8)}:freeze` } : {};
    const before = sleeper.freezes;
    sleeper.kill();
    await until('a frozen worker', () => sleeper.freezes > before, FREEZE_MS_MAX).catch(() => {});
    return async () => {
      house.handicap = () => ({});
      await sleeper.untilAwake();
      return sleeper.freezes > before ? [] : [`${sleeper.name} was never frozen`];
    };
  },
};

const terminated: Fault = {
  name: 'SIGTERM, one process after another',
  family: 'kills',
  holdMs: 1_000,
  async inject(house) {
    for (const one of house.processes) {
      await one.terminate();
      await one.untilUp();
    }
    return async () => {};
  },
};

export const KILLS: readonly Fault[] = [crashStorm, atRandom, stale, terminated];
