import {
  afterFault,
  afterLimit,
  afterSuccess,
  blocksOf,
  appliesTo,
  type Block,
  type BlockKind,
  type BlockScope,
  type Send,
  type SenderFailure,
  type Signal,
} from '@onecode/domain';
import { changeBlock, isSuperseded, type SenderDetails } from '@onecode/store/senders';
import type { WorkerContext } from '../context.js';

type Fault = Extract<SenderFailure, { kind: 'sender' | 'config' }>;
type Limit = Extract<SenderFailure, { kind: 'retry' }>;
type Context = Pick<WorkerContext, 'database' | 'senders' | 'metrics' | 'log'>;

/** The attempt that failed or succeeded, and the source of that signal. */
export interface SenderAttempt extends Signal {
  senderId: string;
}

/**
 * Blocks or slows down the sender, business account, portfolio, template, country or app that caused a failure, so that the send uses
 * another sender or waits.
 */
export function recordSenderFailure(
  context: Context,
  at: SenderAttempt,
  send: Send,
  failure: SenderFailure,
): Promise<void> {
  return failure.kind === 'retry' ? slowDown(context, at, send, failure) : block(context, at, send, failure);
}

/** Clears the blocks of a message's sender after Meta accepted or delivered the message, if it was started after the block. */
export async function recordSenderSuccess(
  { database, senders }: Context,
  { senderId, ...success }: SenderAttempt,
  send: Pick<Send, 'locale' | 'country'>,
): Promise<void> {
  const sender = await senders.open(senderId);
  const rule = (last: Block | null, now: Date): Block | null => last && afterSuccess(last, now, success);
  for (const block of sender.blocks) {
    if (!appliesTo(block, send) || !mayConcern(block.scope, sender, success)) continue;
    if (rule(block, new Date()) === null) continue;
    await changeBlock(database, senderId, block, rule);
    senders.forget();
  }
}

/** Returns whether a signal may change blocks of this scope. An account with its own app signs its receipts itself, and may forge them. */
const mayConcern = (scope: BlockScope, { accountId }: SenderDetails, { source }: Signal): boolean =>
  scope === 'sender' || accountId === null || source !== 'receipt';

async function block(context: Context, at: SenderAttempt, send: Send, fault: Fault): Promise<void> {
  const { database, senders, metrics, log } = context;
  const { errorCode, reason } = fault;
  const isConfiguration = fault.kind === 'config';
  const { senderId, ...signal } = at;
  // An operator may just have ended the block.
  senders.forget();
  const sender = await senders.open(senderId);
  // A fault of kind `sender` blocks only the sender, as a token's does.
  const kinds = blocksOf(isConfiguration ? fault.scope : 'token', send).filter(({ scope }) =>
    mayConcern(scope, sender, at),
  );
  const ruleOf = (kind: BlockKind) => (last: Block | null, now: Date) =>
    afterFault(kind, last, now, { ...signal, errorCode, reason, isConfiguration });
  // While the blocks are active, the many messages with the same fault need no look-up.
  if (kinds.every((kind) => ruleOf(kind)(findBlock(sender, kind), new Date()) === null)) return;
  // The widest scope decides: if the business account or portfolio delivers, it is not at fault.
  const widest = kinds.at(-1) as BlockKind;
  if (await isSuperseded(database, senderId, widest, { ...signal, sendId: send.id })) return;
  const begun: (Block | null)[] = [];
  for (const kind of kinds) begun.push(await changeBlock(database, senderId, kind, ruleOf(kind)));
  senders.forget();
  // Many sends meet the same fault at once. Only the send that starts the block raises the alert.
  if (begun[0] === null) return;
  const facts = { ...factsOf(at, send), error_code: errorCode, reason };
  if (isConfiguration) {
    metrics.configurationFaults.inc({ scope: fault.scope, error_code: String(errorCode ?? 'none') });
    log.error({ ...facts, scope: fault.scope }, 'sender blocked');
  } else {
    metrics.coolDowns.inc({ error_code: String(errorCode ?? 'none') });
    log.warn(facts, 'sender cooling down');
  }
}

const findBlock = ({ blocks }: SenderDetails, { cause, scope, onlyFor }: BlockKind): Block | null =>
  blocks.find((one) => one.cause === cause && one.scope === scope && one.onlyFor === onlyFor) ?? null;

async function slowDown(
  { database, senders, metrics, log }: Context,
  at: SenderAttempt,
  send: Send,
  { throttled, errorCode, reason, retryAfterSeconds }: Limit,
): Promise<void> {
  const { senderId, ...signal } = at;
  const sender = await senders.open(senderId);
  // An account's own sender may belong to the account's own app, and a limit of that app does not concern other accounts.
  const widest = throttled === 'app' && sender.accountId !== null ? 'business' : throttled;
  const scope = mayConcern(widest, sender, at) ? widest : 'sender';
  const kind = { cause: 'limit', scope, onlyFor: '' } as const;
  const begun = await changeBlock(database, senderId, kind, (last, now, fullRate) => {
    const limit = { fullRate, retryAfterSeconds, random: Math.random() };
    return afterLimit(kind, last, now, { ...signal, errorCode, reason }, limit);
  });
  senders.forget();
  if (begun?.failures !== 1) return;
  metrics.throttles.inc({ scope, error_code: String(errorCode ?? 'none') });
  log.warn({ ...factsOf(at, send), scope, error_code: errorCode }, 'provider limit reached');
}

const factsOf = ({ senderId, source }: SenderAttempt, send: Send): object => ({
  send_id: send.id,
  request_id: send.requestId,
  sender_id: senderId,
  source,
});
