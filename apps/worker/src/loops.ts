import { startLoop, type Loop } from '@onecode/runtime';
import type { GraphReader } from '@onecode/whatsapp/graph';
import { watchBreakers } from './breaker.js';
import type { WorkerContext } from './context.js';
import { withHeartbeats } from './heartbeats.js';
import { readDueSenders } from './readings.js';
import { cleanUp, sweep, wake } from './sweeper.js';

const READ_PAUSE_MS = 1_000;

/** The loops whose rounds the health page watches. */
const WATCHED = [
  ['sweep', sweep, 1_000],
  ['wake', wake, 250],
  ['breaker', watchBreakers, 5_000],
  ['clean_up', cleanUp, 60_000],
] as const;

/** Starts what a worker repeats. @param workerId of its presence */
export function startLoops(context: WorkerContext, graph: GraphReader, workerId: string): Loop {
  const { database, log } = context;
  const withHeartbeat = withHeartbeats(database, workerId);
  const start = (loop: string, round: () => Promise<void>, pauseMs: number): Loop =>
    startLoop(round, pauseMs, (error) => log.error({ err: error, loop }, 'a round failed'));
  const loops = [
    ...WATCHED.map(([loop, round, pauseMs]) =>
      start(
        loop,
        withHeartbeat(loop, () => round(context)),
        pauseMs,
      ),
    ),
    start('read', () => readDueSenders(context, graph), READ_PAUSE_MS),
  ];
  return {
    stop: async () => void (await Promise.all(loops.map((loop) => loop.stop()))),
  };
}
