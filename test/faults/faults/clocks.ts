import type { Fault } from './fault.js';

const CLOCK_OFFSET_MS = 300_000;

export const CLOCK_FAULTS: readonly Fault[] = [
  {
    name: 'clocks: one API 5 minutes fast, one worker 5 minutes slow',
    family: 'clocks',
    holdMs: 10_000,
    ready: { apis: true, workers: true },
    async inject(cluster) {
      const [api] = cluster.apis;
      const [worker] = cluster.workers;
      cluster.faultSettings = (name) => {
        if (name === api!.name) return { clockOffsetMs: CLOCK_OFFSET_MS };
        return name === worker!.name ? { clockOffsetMs: -CLOCK_OFFSET_MS } : {};
      };
      const restart = async (): Promise<void> => {
        api!.kill();
        worker!.kill();
        await cluster.untilReady();
      };
      await restart();
      return async () => {
        cluster.faultSettings = () => ({});
        await restart();
      };
    },
  },
];
