import {
  applyProviderReport,
  finishProviderChange,
  postponeProviderChange,
  takeDueProviderChanges,
  type StoredProviderChange,
} from '@onecode/store/senders';
import { reportOf } from '@onecode/whatsapp';
import type { WorkerContext } from '../context.js';
import { alertAboutStops } from './senderFaults.js';

const BATCH = 100;
/** About five minutes with the waits of `postponeProviderChange`, as for receipts. */
const TRIES_MAX = 10;

/** Applies the stored changes of templates, numbers and business accounts that are due. One that fails holds up no other. */
export async function applyDueProviderChanges(context: WorkerContext): Promise<void> {
  const failures: unknown[] = [];
  for (;;) {
    const changes = await takeDueProviderChanges(context.database, BATCH);
    for (const change of changes)
      await applyOrPostpone(context, change).catch((error) => failures.push(error));
    if (changes.length < BATCH) break;
  }
  if (failures.length > 0) throw failures[0];
}

async function applyOrPostpone(context: WorkerContext, change: StoredProviderChange): Promise<void> {
  const { database, log } = context;
  const { id, field, businessAccountId, tries } = change;
  try {
    await applyOne(context, change);
  } catch (error) {
    if (tries + 1 < TRIES_MAX) {
      await postponeProviderChange(database, id);
      throw error;
    }
    await finishProviderChange(database, id, 'failed');
    log.error(
      { err: error, change_id: String(id), field, business_account_id: businessAccountId },
      'what Meta told could not be applied, and was set aside',
    );
  }
}

async function applyOne(
  context: WorkerContext,
  { id, businessAccountId, field, value, occurredAt }: StoredProviderChange,
): Promise<void> {
  const { database } = context;
  const report = reportOf(field, value);
  // crash point: worker before provider change
  if (report !== null)
    alertAboutStops(context, await applyProviderReport(database, businessAccountId, report, occurredAt));
  // crash point: worker after provider change
  await finishProviderChange(database, id, report === null ? 'ignored' : 'applied');
}
