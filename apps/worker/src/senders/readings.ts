import {
  applySenderReading,
  takeDueReading,
  type DueReading,
  type StartedBlock,
} from '@onecode/store/senders';
import { readSender, type GraphCall } from '@onecode/whatsapp/graph';
import { waitUnlessAborted, type WorkerContext } from '../context.js';
import { alertAboutBlocks } from './senderFaults.js';

type ReadingContext = Pick<WorkerContext, 'database' | 'senders' | 'stopTimeout' | 'log' | 'metrics'>;

/** Reads the due senders from Meta and stores the results. Each due read is made by one worker. */
export async function readDueSenders(context: ReadingContext, graph: GraphCall): Promise<void> {
  const failures: unknown[] = [];
  for (;;) {
    const due = await takeDueReading(context.database);
    if (due === null) break;
    // A sender that cannot be read or written does not block the others.
    await readDueSender(context, graph, due)
      .then((blocks) => alertAboutBlocks(context, blocks))
      .catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

async function readDueSender(
  { database, senders, stopTimeout }: ReadingContext,
  graph: GraphCall,
  { senderId, startedAt }: DueReading,
): Promise<StartedBlock[]> {
  // The token may just have been replaced, and this read checks whether Meta accepts the new one.
  senders.forget();
  const { phoneNumberId, template, token, businessAccountId } = await senders.open(senderId);
  const reading = await waitUnlessAborted(
    readSender(graph, { phoneNumberId, template, token: token ?? '', businessAccountId }),
    stopTimeout,
  );
  if (reading === null) return [];
  // crash point: worker after reading
  return applySenderReading(database, { id: senderId, template, businessAccountId }, reading, startedAt);
}
