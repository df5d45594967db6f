import type { ProviderChange } from '@onecode/domain';
import { deleteReport, type StoredReport } from '@onecode/store/sends';
import {
  applyProviderReport,
  applySenderReading,
  takeDueReading,
  type DueReading,
} from '@onecode/store/senders';
import { readSender } from '@onecode/whatsapp/graph';
import { waitUnlessAborted, type WorkerContext } from '../context.js';

type ReadingContext = Pick<WorkerContext, 'cloudApi' | 'database' | 'senders' | 'stopTimeout'>;

/** Applies a reported change of a template, a number or a business account. */
export async function applyProviderChange(
  { database }: Pick<WorkerContext, 'database'>,
  { key, report: { businessAccountId, report, occurredAt } }: StoredReport<ProviderChange>,
): Promise<void> {
  // crash point: worker before provider change
  await applyProviderReport(database, businessAccountId, report, occurredAt);
  // crash point: worker after provider change
  await deleteReport(database, key);
}

/**
 * Reads the due senders from Meta and stores the results. Each due read is made by one worker. After a failure, the next run continues with
 * the other senders.
 */
export async function readDueSenders(context: ReadingContext): Promise<void> {
  for (;;) {
    const due = await takeDueReading(context.database);
    if (due === null) return;
    await readDueSender(context, due);
  }
}

async function readDueSender(
  { cloudApi, database, senders, stopTimeout }: ReadingContext,
  { senderId, startedAt }: DueReading,
): Promise<void> {
  // The token may just have been replaced, and this read checks whether Meta accepts the new one.
  senders.forget();
  const { phoneNumberId, template, token, businessAccountId } = await senders.open(senderId);
  const reading = await waitUnlessAborted(
    readSender(cloudApi.call, { phoneNumberId, template, token: token ?? '', businessAccountId }),
    stopTimeout,
  );
  if (reading === null) return;
  // crash point: worker after reading
  await applySenderReading(database, { id: senderId, template, businessAccountId }, reading, startedAt);
}
