import { LRUCache } from 'lru-cache';
import {
  afterFailure,
  afterSuccess,
  appliesTo,
  blocksOf,
  type Block,
  type BlockKind,
  type BlockScope,
  type Keyring,
  type Send,
  type SenderFailure,
  type Signal,
} from '@onecode/domain';
import type { Database } from '@onecode/store/client';
import {
  applySenderReading,
  changeBlock,
  isSuperseded,
  listSenderDetails,
  takeDueReading,
  type SenderDetails,
} from '@onecode/store/senders';
import { readSender } from '@onecode/whatsapp/graph';
import type { WorkerContext } from './context.js';

/** Must be shorter than the two seconds for which `editSender` grants a sender no permit. */
const CACHED_MS = 1_000;

/** Returns `openSender` of the context. */
export function createSenderCache(database: Database, secretKey: Keyring): WorkerContext['openSender'] {
  const cache = new LRUCache<'all', ReadonlyMap<string, SenderDetails>>({
    max: 1,
    ttl: CACHED_MS,
    fetchMethod: async () =>
      new Map((await listSenderDetails(database, secretKey)).map((sender) => [sender.id, sender])),
  });
  return async (id) => {
    // A sender that is missing may just have been added.
    const known =
      (await cache.forceFetch('all')).get(id) ??
      (await cache.forceFetch('all', { forceRefresh: true })).get(id);
    if (known === undefined) throw new Error(`the sender ${id} does not exist`);
    return known;
  };
}

/** The attempt that failed or succeeded, and the source of that signal. */
export interface SenderAttempt extends Signal {
  senderId: string;
}

/**
 * Blocks the sender, business account, portfolio, template or country that caused a failure, so that the send uses another sender or waits.
 */
export async function recordSenderFailure(
  context: WorkerContext,
  { senderId, ...signal }: SenderAttempt,
  send: Send,
  failure: SenderFailure,
): Promise<void> {
  const { database } = context;
  const sender = await context.openSender(senderId);
  const kinds = blocksOf(failure, send).map((kind): BlockKind =>
    mayConcern(kind.scope, sender, signal) ? kind : { ...kind, scope: 'sender' },
  );
  // If another message in the widest scope has succeeded since, nothing in it is at fault. Limits are not checked: during them, the provider
  // still accepts some messages.
  const widest = kinds.at(-1) as BlockKind;
  let hasStarted = false;
  for (const kind of kinds) {
    const block = await changeBlock(database, senderId, kind, async (last, now) => {
      const next = afterFailure(kind, last, now, signal, failure);
      // Looked up only for the first of many failures, because the look-up may read many attempts.
      const isCleared = next?.cause === 'fault' && (await isSuperseded(database, senderId, widest, signal));
      return isCleared ? null : next;
    });
    if (block !== null) hasStarted = true;
  }
  // Many sends meet the same failure at once. Only one that starts a block raises the alert.
  if (hasStarted) report(context, { senderId, ...signal }, send, failure);
}

function report(
  { metrics, log }: WorkerContext,
  { senderId, source }: SenderAttempt,
  send: Send,
  failure: SenderFailure,
): void {
  const { kind, errorCode, reason } = failure;
  const scope = kind === 'config' ? failure.scope : kind === 'sender' ? 'sender' : 'limit';
  metrics.senderFailures.inc({ scope, error_code: String(errorCode ?? 'none') });
  const facts = {
    send_id: send.id,
    request_id: send.requestId,
    sender_id: senderId,
    source,
    scope,
    error_code: errorCode,
    reason,
  };
  // Logged as an error if an operator must correct the configuration.
  log[kind === 'config' ? 'error' : 'warn'](facts, 'sender blocked');
}

/** Clears the blocks of a sender after Meta accepted or delivered its message, if the message was started after the block. */
export async function recordSenderSuccess(
  { database, openSender }: WorkerContext,
  { senderId, ...success }: SenderAttempt,
  send: Pick<Send, 'locale' | 'country'>,
): Promise<void> {
  const sender = await openSender(senderId);
  const rule = (last: Block | null): Block | null => last && afterSuccess(last, success);
  for (const block of sender.blocks) {
    if (!appliesTo(block, send) || !mayConcern(block.scope, sender, success)) continue;
    if (rule(block) !== null) await changeBlock(database, senderId, block, rule);
  }
}

/** Returns whether a signal may change blocks of this scope. An account with its own app signs its receipts itself, and may forge them. */
const mayConcern = (scope: BlockScope, { accountId }: SenderDetails, { source }: Signal): boolean =>
  scope === 'sender' || accountId === null || source !== 'receipt';

/**
 * Reads the due senders from Meta and stores the results. Each due read is made by one worker. After a failure, the next run continues with
 * the other senders.
 */
export async function readDueSenders(context: WorkerContext): Promise<void> {
  const { cloudApi, database, secretKey } = context;
  for (;;) {
    const due = await takeDueReading(database);
    if (due === null) return;
    // Not cached: the token may just have been replaced, and this read checks whether Meta accepts the new one.
    const senders = await listSenderDetails(database, secretKey);
    const sender = senders.find(({ id }) => id === due.senderId) as SenderDetails;
    const reading = await readSender(cloudApi.call, { ...sender, token: sender.token ?? '' });
    // crash point: worker after reading
    await applySenderReading(database, sender, reading, due.startedAt);
  }
}
