import { repeatedFaults, startLoop, type Loop } from '@onecode/runtime';
import type { LoopName } from '@onecode/store/operations';
import type { GraphReader } from '@onecode/whatsapp/graph';
import { watchBreakers } from './sends/breaker.js';
import type { WorkerContext } from './context.js';
import { withHeartbeats } from './heartbeats.js';
import { readDueSenders } from './senders/readings.js';
import type { DueDeliveries } from './sends/dueDeliveries.js';
import type { Mailer } from './mail/mailer.js';
import { createMailRound, tellWhatLasts } from './mail/sendMails.js';
import { applyReports } from './reports.js';
import { cleanUp, retain } from './sweeper.js';
import { createEventRound } from './webhooks/postEvents.js';
import type { Poster } from './webhooks/poster.js';

const READ_PAUSE_MS = 1_000;
const TELL_PAUSE_MS = 10_000;
/** Rounds come twice within `SLOT_WAIT_MS_MAX`, or slots would stay unused. */
const DELIVER_PAUSE_MS = 250;

/** Starts what a worker repeats. @param workerId of its presence */
export function startLoops(
  context: WorkerContext,
  dueDeliveries: DueDeliveries,
  graph: GraphReader,
  workerId: string,
  mail: { mailer: Mailer | null; consoleUrl: string | null },
  poster: Poster,
): Loop {
  const { database, log } = context;
  const stopping = new AbortController();
  const withHeartbeat = withHeartbeats(database, workerId);
  const start = (loop: string, round: () => Promise<void>, pauseMs: number): Loop =>
    startLoop(round, pauseMs, repeatedFaults(log, 'error', 'a round failed', { loop }));
  /** One whose rounds the health page watches. */
  const startWatched = (loop: LoopName, round: () => Promise<void>, pauseMs: number): Loop =>
    start(loop, withHeartbeat(loop, round), pauseMs);
  const events = createEventRound({ ...context, poster });
  const loops = [
    startWatched('deliver', () => dueDeliveries.round(), DELIVER_PAUSE_MS),
    // Reports whose job was lost, and postponed ones.
    startWatched('sweep', () => applyReports(context), 1_000),
    startWatched('breaker', () => watchBreakers(context), 5_000),
    startWatched('clean_up', () => cleanUp(context), 60_000),
    start('retain', () => retain(context, stopping.signal), 60_000),
    start('read', () => readDueSenders(context, graph), READ_PAUSE_MS),
    // The health page watches the mails that wait, not these loops.
    start('mail', createMailRound({ ...context, ...mail }), 1_000),
    start('urgent_mail', createMailRound({ ...context, ...mail }, 'urgent'), 1_000),
    start('events', events.round, 1_000),
    start('tell', () => tellWhatLasts(context), TELL_PAUSE_MS),
  ];
  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops.map((loop) => loop.stop()));
      await Promise.all([dueDeliveries.ended(), events.ended()]);
      mail.mailer?.close();
    },
  };
}
