import {
  applySenderReading,
  listSenders,
  postponeReading,
  takeDueReading,
  type BegunStop,
  type DueReading,
} from '@onecode/store';
import type { GraphReader } from '@onecode/whatsapp/graph';
import type { WorkerContext } from './context.js';
import { alertOf } from './providerChanges.js';

type ReadingContext = Pick<WorkerContext, 'database' | 'senders' | 'releaseClaims' | 'log' | 'metrics'>;

/** Reads what the provider knows of the senders whose read is due, each by one worker at a time. */
export async function readDueSenders(context: ReadingContext, graph: GraphReader): Promise<void> {
  const failures: unknown[] = [];
  for (;;) {
    const due = await takeDueReading(context.database);
    if (due === null) break;
    // One that cannot be read or written holds up no other.
    await readOne(context, graph, due)
      .then((stops) => alertOf(context, stops))
      .catch((error: unknown) => failures.push(error));
    await postponeReading(context.database, due);
  }
  if (failures.length > 0) throw failures[0];
}

async function readOne(
  { database, senders, releaseClaims }: ReadingContext,
  graph: GraphReader,
  { senderId, startedAt }: DueReading,
): Promise<BegunStop[]> {
  // The token may have been replaced a moment ago, and the read is to say of the new one whether it is taken.
  senders.forget();
  const { phoneNumberId, template, token } = await senders.open(senderId);
  const known = (await listSenders(database)).find(({ id }) => id === senderId);
  const businessAccountId = known?.businessAccountId ?? null;
  const reading = await untilStopped(
    graph.readSender({ phoneNumberId, template, token: token ?? '', businessAccountId }),
    releaseClaims,
  );
  if (reading === null) return [];
  // crash point: worker after reading
  return applySenderReading(database, { id: senderId, template, businessAccountId }, reading, startedAt);
}

/**
 * The answer, or null when the worker can wait no longer: the lease ends, and another one does it. (`Promise.race` with a signal that lives
 * as long as the process would keep every answer in memory.)
 */
export function untilStopped<Answer>(answer: Promise<Answer>, stop: AbortSignal): Promise<Answer | null> {
  return new Promise((resolve, reject) => {
    const onStop = (): void => resolve(null);
    if (stop.aborted) onStop();
    stop.addEventListener('abort', onStop);
    answer.finally(() => stop.removeEventListener('abort', onStop)).then(resolve, reject);
  });
}
