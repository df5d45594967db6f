import type { ProviderChange } from '@onecode/domain';
import { applyProviderReport } from '@onecode/store/senders';
import { deleteReports, type StoredReport } from '@onecode/store/sends';
import type { WorkerContext } from '../context.js';
import { alertAboutBlocks } from './senderFaults.js';

/** Applies a reported change of a template, a number or a business account. */
export async function applyProviderChange(
  context: WorkerContext,
  { key, report: { businessAccountId, report, occurredAt } }: StoredReport<ProviderChange>,
): Promise<void> {
  const { database } = context;
  // crash point: worker before provider change
  alertAboutBlocks(context, await applyProviderReport(database, businessAccountId, report, occurredAt));
  // crash point: worker after provider change
  await deleteReports(database, [key]);
}
