import {
  afterFault,
  afterLimit,
  afterSuccess,
  blocksOf,
  blockSubject,
  appliesTo,
  type Block,
  type BlockSubject,
  type Send,
  type SenderFailure,
  type Signal,
} from '@onecode/domain';
import { changeBlock, fullRate, isSuperseded, type StartedBlock } from '@onecode/store/senders';
import type { WorkerContext } from '../context.js';

type Fault = Extract<SenderFailure, { kind: 'sender' | 'config' }>;
type Limit = Extract<SenderFailure, { kind: 'retry' }>;
type Context = Pick<WorkerContext, 'database' | 'senders' | 'metrics' | 'log'>;

/** The attempt that failed or succeeded, and the source of that signal. */
export interface SenderAttempt extends Signal {
  senderId: string;
}

/** Blocks the sender, business account, portfolio, template or country that caused a failure, so that the send uses another sender or waits. */
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
  const { blocks, accountId } = await senders.open(senderId);
  const isUntrusted = isReportedByAccount(accountId, success);
  for (const block of blocks) {
    if (
      !appliesTo(block, send) ||
      (isUntrusted && block.scope !== 'sender') ||
      afterSuccess(block, new Date(), success) === null
    )
      continue;
    await changeBlock(database, block, (last, now) => last && afterSuccess(last, now, success));
    senders.forget();
  }
}

/** Returns whether the sender's account may have forged the signal: an account with its own app signs its receipts itself. */
const isReportedByAccount = (accountId: string | null, { source }: Pick<Signal, 'source'>): boolean =>
  accountId !== null && source === 'receipt';

async function block(context: Context, at: SenderAttempt, send: Send, fault: Fault): Promise<void> {
  const { database, senders, metrics, log } = context;
  const { errorCode, reason } = fault;
  const scope = fault.kind === 'config' ? fault.scope : 'token';
  // The sender's business account and portfolio may just have become known.
  senders.forget();
  const sender = await senders.open(at.senderId);
  // Ordered from the sender to its business account or portfolio.
  const subjects = blocksOf(scope, send)
    .filter((one) => one.scope === 'sender' || !isReportedByAccount(sender.accountId, at))
    .map((one): BlockSubject => ({ cause: 'fault', ...one, subject: blockSubject(one.scope, sender) }));
  const met = {
    startedAt: at.startedAt,
    source: at.source,
    errorCode,
    reason,
    isConfiguration: fault.kind === 'config',
  };
  // While a block is active, the many messages with the same fault skip the look-up of newer success signals.
  const isKnown = (one: BlockSubject): boolean =>
    sender.blocks.some(
      (known) =>
        known.cause === 'fault' &&
        known.scope === one.scope &&
        known.onlyFor === one.onlyFor &&
        afterFault(one, known, new Date(), met) === null,
    );
  // The widest scope decides: if the business account or portfolio delivers, it is not at fault.
  const widest = subjects.at(-1);
  if (widest === undefined || subjects.every(isKnown)) return;
  if (await isSuperseded(database, widest, { ...at, sendId: send.id })) return;
  const begun: (Block | null)[] = [];
  for (const subject of subjects)
    begun.push(await changeBlock(database, subject, (last, now) => afterFault(subject, last, now, met)));
  senders.forget();
  // Many sends meet the same fault at once. Only the send that starts the block raises the alert.
  if (begun[0] === null) return;
  const facts = { ...factsOf(at, send), error_code: errorCode, reason };
  if (fault.kind === 'config') {
    metrics.configurationFaults.inc({ scope: fault.scope, error_code: String(errorCode ?? 'none') });
    log.error({ ...facts, scope: fault.scope }, 'sender blocked');
  } else {
    metrics.coolDowns.inc({ error_code: String(errorCode ?? 'none') });
    log.warn(facts, 'sender cooling down');
  }
}

async function slowDown(
  { database, senders, metrics, log }: Context,
  at: SenderAttempt,
  send: Send,
  { throttled, errorCode, reason, retryAfterSeconds }: Limit,
): Promise<void> {
  const sender = await senders.open(at.senderId);
  // An account's own sender may belong to the account's own app, and a limit of that app does not concern other accounts.
  const widest = throttled === 'app' && sender.accountId !== null ? 'business' : throttled;
  const scope = isReportedByAccount(sender.accountId, at) ? 'sender' : widest;
  const subject: BlockSubject = { cause: 'limit', scope, subject: blockSubject(scope, sender), onlyFor: '' };
  const limit = { fullRate: await fullRate(database, subject), retryAfterSeconds, random: Math.random() };
  const begun = await changeBlock(database, subject, (last, now) =>
    afterLimit(subject, last, now, { startedAt: at.startedAt, source: at.source, errorCode, reason }, limit),
  );
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

/** Raises an alert for each block that a report or a read from Meta started. */
export function alertAboutBlocks(
  { log, metrics }: Pick<Context, 'log' | 'metrics'>,
  blocks: readonly StartedBlock[],
): void {
  for (const { senderId, locale, reason, source } of blocks) {
    const scope = locale === null ? 'business' : 'template';
    metrics.configurationFaults.inc({ scope, error_code: 'none' });
    log.error({ sender_id: senderId, locale, reason, source, scope }, 'sender blocked');
  }
}
