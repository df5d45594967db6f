import {
  applyProviderReport,
  finishProviderChange,
  takeDueProviderChanges,
  type BegunStop,
} from '@onecode/store';
import { reportOf } from '@onecode/whatsapp';
import type { WorkerContext } from './context.js';

const BATCH = 100;

/** Applies the stored changes of templates, numbers and business accounts that are due, until none is. */
export async function applyDueProviderChanges(context: WorkerContext): Promise<void> {
  const { database } = context;
  for (;;) {
    const changes = await takeDueProviderChanges(database, BATCH);
    for (const { id, businessAccountId, field, value, occurredAt } of changes) {
      const report = reportOf(field, value);
      // crash point: worker before provider change
      if (report !== null)
        alertOf(context, await applyProviderReport(database, businessAccountId, report, occurredAt));
      // crash point: worker after provider change
      await finishProviderChange(database, id, report === null ? 'ignored' : 'applied');
    }
    if (changes.length < BATCH) return;
  }
}

/** Raises an alert for each stop that the provider's word began. */
export function alertOf(
  { log, metrics }: Pick<WorkerContext, 'log' | 'metrics'>,
  stops: readonly BegunStop[],
): void {
  for (const { senderId, locale, reason, source } of stops) {
    const scope = locale === null ? 'business' : 'template';
    metrics.configurationFaults.inc({ scope, error_code: 'none' });
    log.error(
      { sender_id: senderId, locale, reason, source, scope },
      'an operator has to act: a sender is stopped',
    );
  }
}
