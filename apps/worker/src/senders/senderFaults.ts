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

/** The attempt that met a failure or succeeded, and how we know. */
export interface SenderAttempt extends Signal {
  senderId: string;
}

/** Blocks what a failure outside of its send is about, so that the send goes out by another sender, or waits. */
export function recordSenderFailure(
  context: Context,
  at: SenderAttempt,
  send: Send,
  failure: SenderFailure,
): Promise<void> {
  return failure.kind === 'retry' ? slowDown(context, at, send, failure) : block(context, at, send, failure);
}

/** Ends what single messages were trying: the provider accepted a message of the sender, or has sent one on to the recipient. */
export async function recordSenderSuccess(
  { database, senders }: Context,
  { senderId, ...success }: SenderAttempt,
  send: Pick<Send, 'locale' | 'country'>,
): Promise<void> {
  const { blocks, accountId } = await senders.open(senderId);
  const isOwnWord = isWordOfAccount(accountId, success);
  for (const block of blocks) {
    if (
      !appliesTo(block, send) ||
      (isOwnWord && block.scope !== 'sender') ||
      afterSuccess(block, new Date(), success) === null
    )
      continue;
    await changeBlock(database, block, (last, now) => last && afterSuccess(last, now, success));
    senders.forget();
  }
}

/** Whether only the sender's account may stand behind this: with an app of its own it signs receipts itself. */
const isWordOfAccount = (accountId: string | null, { source }: Pick<Signal, 'source'>): boolean =>
  accountId !== null && source === 'receipt';

async function block(context: Context, at: SenderAttempt, send: Send, fault: Fault): Promise<void> {
  const { database, senders, metrics, log } = context;
  const { errorCode, reason } = fault;
  const scope = fault.kind === 'config' ? fault.scope : 'token';
  // Its business account may have become known a moment ago.
  senders.forget();
  const sender = await senders.open(at.senderId);
  const blocks = blocksOf(scope, send).filter(
    (one) => one.scope === 'sender' || !isWordOfAccount(sender.accountId, at),
  );
  const subjects = blocks.map((one): BlockSubject => ({
    cause: 'fault',
    ...one,
    subject: blockSubject(one.scope, sender),
  }));
  const met = {
    startedAt: at.startedAt,
    source: at.source,
    errorCode,
    reason,
    isConfiguration: fault.kind === 'config',
  };
  // While a block stands, the many messages that met the same look up no refutation.
  const isKnown = (one: BlockSubject): boolean =>
    sender.blocks.some(
      (known) =>
        known.cause === 'fault' &&
        known.scope === one.scope &&
        known.onlyFor === one.onlyFor &&
        afterFault(one, known, new Date(), met) === null,
    );
  // The widest decides: a business account that delivers is not at fault.
  const widest = subjects.at(-1);
  if (widest === undefined || subjects.every(isKnown)) return;
  if (await isSuperseded(database, widest, { ...at, sendId: send.id })) return;
  const begun: (Block | null)[] = [];
  for (const subject of subjects)
    begun.push(await changeBlock(database, subject, (last, now) => afterFault(subject, last, now, met)));
  senders.forget();
  // Many sends meet the same fault at once; the one that begins the block raises the alert.
  if (begun[0] === null) return;
  const facts = { ...factsOf(at, send), error_code: errorCode, reason };
  if (fault.kind === 'config') {
    metrics.configurationFaults.inc({ scope: fault.scope, error_code: String(errorCode ?? 'none') });
    log.error({ ...facts, scope: fault.scope }, 'an operator has to act: a sender is blocked');
  } else {
    metrics.coolDowns.inc({ error_code: String(errorCode ?? 'none') });
    log.warn(facts, 'a sender cools down after a fault');
  }
}

async function slowDown(
  { database, senders, metrics, log }: Context,
  at: SenderAttempt,
  send: Send,
  { throttled, errorCode, reason, retryAfterSeconds }: Limit,
): Promise<void> {
  const sender = await senders.open(at.senderId);
  // An account's own sender may be of an app of its own, whose limit slows nobody else.
  const widest = throttled === 'app' && sender.accountId !== null ? 'business' : throttled;
  const scope = isWordOfAccount(sender.accountId, at) ? 'sender' : widest;
  const subject: BlockSubject = { cause: 'limit', scope, subject: blockSubject(scope, sender), onlyFor: '' };
  const limit = { fullRate: await fullRate(database, subject), retryAfterSeconds, random: Math.random() };
  const begun = await changeBlock(database, subject, (last, now) =>
    afterLimit(subject, last, now, { startedAt: at.startedAt, source: at.source, errorCode, reason }, limit),
  );
  senders.forget();
  if (begun?.failures !== 1) return;
  metrics.throttles.inc({ scope, error_code: String(errorCode ?? 'none') });
  log.warn({ ...factsOf(at, send), scope, error_code: errorCode }, 'a limit of the provider was reached');
}

const factsOf = ({ senderId, source }: SenderAttempt, send: Send): object => ({
  send_id: send.id,
  request_id: send.requestId,
  sender_id: senderId,
  source,
});

/** Raises an alert for each block that a report or a read from Meta began. */
export function alertAboutBlocks(
  { log, metrics }: Pick<Context, 'log' | 'metrics'>,
  blocks: readonly StartedBlock[],
): void {
  for (const { senderId, locale, reason, source } of blocks) {
    const scope = locale === null ? 'business' : 'template';
    metrics.configurationFaults.inc({ scope, error_code: 'none' });
    log.error(
      { sender_id: senderId, locale, reason, source, scope },
      'an operator has to act: a sender is blocked',
    );
  }
}
