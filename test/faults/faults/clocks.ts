import type { Fault } from './fault.js';

const OFF_MS = 300_000;

export const CLOCKS: readonly Fault[] = [
  {
    name: 'clocks: one API 5 minutes fast, one worker 5 minutes slow',
    family: 'clocks',
    holdMs: 10_000,
    ready: { apis: true, workers: true },
    async inject(house) {
      const [api] = house.apis;
      const [worker] = house.workers;
      house.handicap = (name) => {
        if (name === api!.name) return { clockOffsetMs: OFF_MS };
        return name === worker!.name ? { clockOffsetMs: -OFF_MS } : {};
      };
      const restart = async (): Promise<void> => {
        api!.kill();
        worker!.kill();
        await house.untilUp();
      };
      await restart();
      return async () => {
        house.handicap = () => ({});
        await restart();
      };
    },
  },
];
