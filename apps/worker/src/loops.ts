import { repeatedFaults, startLoop, type Loop } from '@onecode/runtime';
import type { Database } from '@onecode/store/client';
import { readDueWork, recordHeartbeat, type DueWork, type LoopName } from '@onecode/store/operations';
import { watchBreakers } from './sends/breaker.js';
import type { WorkerContext } from './context.js';
import { readDueSenders } from './senders/providerFacts.js';
import type { DueDeliveries } from './sends/dueDeliveries.js';
import type { Mailer } from './mail/mailer.js';
import { createMailRun, queueStandingAlerts } from './mail/sendMails.js';
import { applyDueReports } from './reports.js';
import { cleanUp, deleteAccounts, retain } from './sweeper.js';
import { createEventRun } from './webhooks/postEvents.js';
import type { Poster } from './webhooks/poster.js';

const LOOK_PAUSE_MS = 1_000;
/** While sends are due. Half of `PERMIT_WAIT_MS_MAX`: with fewer runs, permits would expire unused. */
const DELIVER_PAUSE_MS = 250;

/** Half of the time after which the health page reports a loop as late. */
const HEARTBEAT_PAUSE_MS = 5_000;

/**
 * Starts the worker's loops. One loop reads which work is due, and the others skip a run without due work, so that an idle worker issues
 * one statement a second. @param workerId the id of the worker's presence
 */
export function startLoops(
  context: WorkerContext,
  dueDeliveries: DueDeliveries,
  workerId: string,
  mail: { mailer: Mailer | null; consoleUrl: string | null },
  poster: Poster,
): Loop {
  const { database, log } = context;
  const stopping = new AbortController();
  let due: DueWork = { deliveries: true, reports: true, readings: true, mails: true, events: true };
  const look = async (): Promise<void> => {
    due = await readDueWork(database);
    if (due.deliveries) deliveries.wake();
  };
  const whenDue = (work: keyof DueWork, run: () => Promise<void>) => async (): Promise<void> => {
    if (due[work]) await run();
  };
  const start = (loop: string, run: () => Promise<void>, pauseMs: number | (() => number)) =>
    startLoop(run, pauseMs, repeatedFaults(log, 'error', 'loop run failed', { loop }));
  /** Starts a loop with a heartbeat, which the health page watches. */
  const startWatched = (loop: LoopName, run: () => Promise<void>, pauseMs: number | (() => number)) =>
    start(loop, withHeartbeat(database, workerId, loop, run), pauseMs);
  const events = createEventRun({ ...context, poster });
  const mails = { ...context, ...mail, hasMails: () => due.mails };
  const deliveries = startWatched(
    'deliver',
    whenDue('deliveries', () => dueDeliveries.run(stopping.signal)),
    () => {
      if (!due.deliveries) return LOOK_PAUSE_MS;
      return dueDeliveries.hasMore() ? 0 : DELIVER_PAUSE_MS;
    },
  );
  const loops = [
    start('look', look, LOOK_PAUSE_MS),
    deliveries,
    // Applies postponed reports, and reports without a job. The jobs apply all others earlier.
    startWatched(
      'sweep',
      whenDue('reports', () => applyDueReports(context)),
      1_000,
    ),
    startWatched('breaker', () => watchBreakers(context), 5_000),
    startWatched('clean_up', () => cleanUp(context, stopping.signal), 60_000),
    start('retain', () => retain(context, stopping.signal), 60_000),
    start('delete_accounts', () => deleteAccounts(context, stopping.signal), 60_000),
    start(
      'read',
      whenDue('readings', () => readDueSenders(context)),
      1_000,
    ),
    // No heartbeat: the health page watches the age of waiting mails instead.
    start('mail', createMailRun(mails), 1_000),
    start('urgent_mail', createMailRun(mails, 'urgent'), 1_000),
    start('events', whenDue('events', events.run), 1_000),
    start('alerts', () => queueStandingAlerts(context), 30_000),
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

/** Returns a loop's run that records a heartbeat when it succeeds, at most once every five seconds. */
export function withHeartbeat(
  database: Database,
  workerId: string,
  loop: LoopName,
  run: () => Promise<void>,
): () => Promise<void> {
  let recordedAt = -Infinity;
  return async () => {
    await run();
    if (performance.now() - recordedAt < HEARTBEAT_PAUSE_MS) return;
    if (await recordHeartbeat(database, loop, workerId)) recordedAt = performance.now();
  };
}
