import type { ProviderChange } from '@onecode/domain';
import { applyProviderReport } from '@onecode/store/senders';
import { deleteReports, type StoredReport } from '@onecode/store/sends';
import { reportOf } from '@onecode/whatsapp';
import type { WorkerContext } from '../context.js';
import { alertAboutBlocks } from './senderFaults.js';

/** Applies a reported change of a template, a number or a business account. A change of an unknown kind is dropped. */
export async function applyProviderChange(
  context: WorkerContext,
  {
    key,
    report: { businessAccountId, field, value, occurredAt },
  }: StoredReport<Omit<ProviderChange, 'digest'>>,
): Promise<void> {
  const { database } = context;
  const report = reportOf(field, value);
  // crash point: worker before provider change
  if (report !== null)
    alertAboutBlocks(context, await applyProviderReport(database, businessAccountId, report, occurredAt));
  // crash point: worker after provider change
  await deleteReports(database, [key]);
}
