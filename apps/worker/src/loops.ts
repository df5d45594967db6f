import { repeatedFaults, startLoop, type Loop } from '@onecode/runtime';
import { readDueWork, type DueWork, type LastRuns, type LoopName } from '@onecode/store/operations';
import type { WorkerContext } from './context.js';
import type { DueDeliveries } from './deliver.js';
import { readDueSenders } from './senders.js';
import type { Mailer } from './mail/mailer.js';
import { createMailRun, queueStandingAlerts } from './mail/sendMails.js';
import { applyDueReports } from './reports.js';
import { cleanUp, deleteAccounts, retain, watchBreakers } from './cleanUp.js';
import { createEventRun } from './webhooks/postEvents.js';
import type { Poster } from './webhooks/poster.js';

const LOOK_PAUSE_MS = 1_000;
/** The pause of the loops that `look` wakes each second. While `look` fails, they run after this pause, as if they had due work. */
const WOKEN_PAUSE_MS = 3_000;
/** The pause of `deliver` while sends are due: half of the longest wait for a permit at a turn. Fewer runs would leave permits unused. */
const DELIVER_PAUSE_MS = 250;

const ALL_WORK: DueWork = { deliveries: true, reports: true, readings: true, mails: true, events: true };

/**
 * Starts the worker's loops. The loop `look` reads each second which work is due, and wakes the loops in `woken`. They skip a run without
 * due work, so an idle worker wakes about once a second, for about one statement.
 *
 * @param lastRuns receives the start and each successful run of the loops that the health page watches
 */
export function startLoops(
  context: WorkerContext,
  dueDeliveries: DueDeliveries,
  lastRuns: LastRuns,
  mail: { mailer: Mailer | null; consoleUrl: string | null },
  poster: Poster,
): Loop {
  const { database, log } = context;
  const stopping = new AbortController();
  let due = ALL_WORK;
  const start = (loop: string, pauseMs: number | (() => number), run: () => Promise<void>) =>
    startLoop(run, pauseMs, repeatedFaults(log.child({ loop }), 'error', 'loop run failed'));
  /** Starts a loop that the health page watches. */
  const startWatched = (loop: LoopName, pauseMs: number | (() => number), run: () => Promise<void>) => {
    lastRuns[loop] = performance.now();
    return start(loop, pauseMs, async () => {
      await run();
      lastRuns[loop] = performance.now();
    });
  };
  const whenDue = (work: keyof DueWork, run: () => Promise<void>) => async (): Promise<void> => {
    if (due[work]) await run();
  };
  const deliverPauseMs = (): number => {
    if (!due.deliveries) return WOKEN_PAUSE_MS;
    return dueDeliveries.hasMore() ? 0 : DELIVER_PAUSE_MS;
  };
  const events = createEventRun({ ...context, poster });
  const mails = { ...context, ...mail, hasMails: () => due.mails };

  const woken = [
    startWatched('deliver', deliverPauseMs, whenDue('deliveries', dueDeliveries.run)),
    // Applies postponed reports, and reports without a job. The jobs apply all others earlier.
    startWatched(
      'sweep',
      WOKEN_PAUSE_MS,
      whenDue('reports', () => applyDueReports(context)),
    ),
    start(
      'read',
      WOKEN_PAUSE_MS,
      whenDue('readings', () => readDueSenders(context)),
    ),
    // The health page watches the age of waiting mails instead of these loops.
    start('mail', WOKEN_PAUSE_MS, createMailRun(mails)),
    start('urgent_mail', WOKEN_PAUSE_MS, createMailRun(mails, 'urgent')),
    start('events', WOKEN_PAUSE_MS, whenDue('events', events.run)),
  ];
  const loops = [
    ...woken,
    start('look', LOOK_PAUSE_MS, async () => {
      // Used if the read fails.
      due = ALL_WORK;
      due = await readDueWork(database);
      for (const loop of woken) loop.wake();
    }),
    startWatched('breaker', 5_000, () => watchBreakers(context)),
    startWatched('clean_up', 60_000, () => cleanUp(context, stopping.signal)),
    start('retain', 60_000, () => retain(context, stopping.signal)),
    start('delete_accounts', 60_000, () => deleteAccounts(context, stopping.signal)),
    start('alerts', 30_000, () => queueStandingAlerts(context)),
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
