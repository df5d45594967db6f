import { repeatedFaults, startLoop, type Loop } from '@onecode/runtime';
import { readDueWork, type DueWork, type LoopName } from '@onecode/store/operations';
import type { GraphReader } from '@onecode/whatsapp/graph';
import { watchBreakers } from './sends/breaker.js';
import type { WorkerContext } from './context.js';
import { withHeartbeats } from './heartbeats.js';
import { readDueSenders } from './senders/readings.js';
import type { DueDeliveries } from './sends/dueDeliveries.js';
import type { Mailer } from './mail/mailer.js';
import { createMailRound, queueStandingAlerts } from './mail/sendMails.js';
import { applyReports } from './reports.js';
import { cleanUp, retain } from './sweeper.js';
import { createEventRound } from './webhooks/postEvents.js';
import type { Poster } from './webhooks/poster.js';

const LOOK_PAUSE_MS = 1_000;
const ALERT_PAUSE_MS = 30_000;
/** Rounds come twice within `PERMIT_WAIT_MS_MAX`, or permits would stay unused. */
const DELIVER_PAUSE_MS = 250;

const EVERYTHING: DueWork = { deliveries: true, reports: true, readings: true, mails: true, events: true };

/**
 * Starts what a worker repeats. One loop looks which work is due; the rounds of the others skip what is not, so that an idle worker issues
 * one statement a second. @param workerId of its presence
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
  const whenDue = (round: () => Promise<void>, work?: keyof DueWork) => async (): Promise<void> => {
    if (work === undefined || due[work]) await round();
  };
  const start = (loop: string, round: () => Promise<void>, pauseMs: number, work?: keyof DueWork): Loop =>
    startLoop(whenDue(round, work), pauseMs, repeatedFaults(log, 'error', 'a round failed', { loop }));
  /** One whose rounds the health page watches. */
  const startWatched = (
    loop: LoopName,
    round: () => Promise<void>,
    pauseMs: number,
    work?: keyof DueWork,
  ): Loop => start(loop, withHeartbeat(loop, whenDue(round, work)), pauseMs);
  const events = createEventRound({ ...context, poster });
  const mails = { ...context, ...mail, hasMails: () => due.mails };
  const loops = [
    start('look', look, LOOK_PAUSE_MS),
    startWatched('deliver', () => dueDeliveries.round(), DELIVER_PAUSE_MS, 'deliveries'),
    // Reports whose job was lost, and postponed ones.
    startWatched('sweep', () => applyReports(context), 1_000, 'reports'),
    startWatched('breaker', () => watchBreakers(context), 5_000),
    startWatched('clean_up', () => cleanUp(context), 60_000),
    start('retain', () => retain(context, stopping.signal), 60_000),
    start('read', () => readDueSenders(context, graph), 1_000, 'readings'),
    // The health page watches the mails that wait, not these loops.
    start('mail', createMailRound(mails), 1_000),
    start('urgent_mail', createMailRound(mails, 'urgent'), 1_000),
    start('events', events.round, 1_000, 'events'),
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
