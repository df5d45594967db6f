import type { ProviderChange } from '@onecode/domain';
import { applyProviderReport, applySenderReading, takeDueReading } from '@onecode/store/senders';
import { readSender } from '@onecode/whatsapp/graph';
import { waitUnlessAborted, type WorkerContext } from '../context.js';

/** Applies a reported change of a template, a number or a business account. @returns true: no change waits for a message */
export async function applyProviderChange(
  { database }: Pick<WorkerContext, 'database'>,
  { businessAccountId, report, occurredAt }: ProviderChange,
): Promise<boolean> {
  // crash point: worker before provider change
  await applyProviderReport(database, businessAccountId, report, occurredAt);
  // crash point: worker after provider change
  return true;
}

/**
 * Reads the due senders from Meta and stores the results. Each due read is made by one worker. After a failure, the next run continues with
 * the other senders.
 */
export async function readDueSenders({
  cloudApi,
  database,
  senders,
  stopTimeout,
}: Pick<WorkerContext, 'cloudApi' | 'database' | 'senders' | 'stopTimeout'>): Promise<void> {
  for (;;) {
    const due = await takeDueReading(database);
    if (due === null) return;
    // The token may just have been replaced, and this read checks whether Meta accepts the new one.
    senders.forget();
    const sender = await senders.open(due.senderId);
    const read = readSender(cloudApi.call, { ...sender, token: sender.token ?? '' });
    const reading = await waitUnlessAborted(read, stopTimeout);
    if (reading === null) return;
    // crash point: worker after reading
    await applySenderReading(database, sender, reading, due.startedAt);
  }
}
