import { repeatedFaults, startLoop, type Loop } from '@onecode/runtime';
import { readDueWork, type DueWork, type LoopName } from '@onecode/store/operations';
import type { GraphReader } from '@onecode/whatsapp/graph';
import { watchBreakers } from './sends/breaker.js';
import type { WorkerContext } from './context.js';
import { withHeartbeats } from './heartbeats.js';
import { readDueSenders } from './senders/readings.js';
import type { DueDeliveries } from './sends/dueDeliveries.js';
import type { Mailer } from './mail/mailer.js';
import { createMailRun, queueStandingAlerts } from './mail/sendMails.js';
import { applyDueReports } from './reports.js';
import { cleanUp, retain } from './sweeper.js';
import { createEventRun } from './webhooks/postEvents.js';
import type { Poster } from './webhooks/poster.js';

const LOOK_PAUSE_MS = 1_000;
const ALERT_PAUSE_MS = 30_000;
/** Half of `PERMIT_WAIT_MS_MAX`: with fewer runs, permits would expire unused. */
const DELIVER_PAUSE_MS = 250;

const EVERYTHING: DueWork = { deliveries: true, reports: true, readings: true, mails: true, events: true };

/**
 * Starts the worker's loops. One loop reads which work is due, and the others skip a run without due work, so that an idle worker issues
 * one statement a second. @param workerId the id of the worker's presence
 */
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
  let due = EVERYTHING;
  const look = async (): Promise<void> => {
    try {
      due = await readDueWork(database);
    } catch (error) {
      due = EVERYTHING;
      throw error;
    }
  };
  const whenDue = (run: () => Promise<void>, work?: keyof DueWork) => async (): Promise<void> => {
    if (work === undefined || due[work]) await run();
  };
  const start = (loop: string, run: () => Promise<void>, pauseMs: number, work?: keyof DueWork): Loop =>
    startLoop(whenDue(run, work), pauseMs, repeatedFaults(log, 'error', 'loop run failed', { loop }));
  /** Starts a loop with a heartbeat, which the health page watches. */
  const startWatched = (
    loop: LoopName,
    run: () => Promise<void>,
    pauseMs: number,
    work?: keyof DueWork,
  ): Loop => start(loop, withHeartbeat(loop, whenDue(run, work)), pauseMs);
  const events = createEventRun({ ...context, poster });
  const mails = { ...context, ...mail, hasMails: () => due.mails };
  const loops = [
    start('look', look, LOOK_PAUSE_MS),
    startWatched('deliver', () => dueDeliveries.run(), DELIVER_PAUSE_MS, 'deliveries'),
    // Applies postponed reports, and reports with a job that Redis lost.
    startWatched('sweep', () => applyDueReports(context), 1_000, 'reports'),
    startWatched('breaker', () => watchBreakers(context), 5_000),
    startWatched('clean_up', () => cleanUp(context), 60_000),
    start('retain', () => retain(context, stopping.signal), 60_000),
    start('read', () => readDueSenders(context, graph), 1_000, 'readings'),
    // No heartbeat: the health page watches the age of waiting mails instead.
    start('mail', createMailRun(mails), 1_000),
    start('urgent_mail', createMailRun(mails, 'urgent'), 1_000),
    start('events', events.run, 1_000, 'events'),
    start('alerts', () => queueStandingAlerts(context), ALERT_PAUSE_MS),
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
