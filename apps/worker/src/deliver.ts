import { setTimeout as wait } from 'node:timers/promises';
import {
  claim,
  releaseClaim,
  settle,
  unseal,
  type Claim,
  type Keyring,
  type Outcome,
  type Send,
  type Settlement,
} from '@onecode/domain';
import { changeSendSnapshot, changeRoutedSend, newId } from '@onecode/store';
import { templateLanguage } from '@onecode/whatsapp';
import { LEASE_MARGIN_MS, type WorkerContext } from './context.js';
import type { OpenSender } from './senderPool.js';

/**
 * What became of one round of delivery. `released`: no call was made, because the worker has to stop or was held up for too
 * long; `gone`: there is no such send.
 */
export type DeliveryEnd =
  | Exclude<Claim, { kind: 'claimed' }>
  | Exclude<Settlement, { kind: 'reassign' }>
  | { kind: 'released' }
  | { kind: 'gone' };

/** A send that went round more senders than this in one go takes a rest. */
const REASSIGNMENTS_MAX = 20;
const REST_MS = 1_000;
/** A call that would begin later than this after its time might outlast the claim: the process was held up. */
const HELD_UP_MS_MAX = LEASE_MARGIN_MS / 2;

/**
 * One round of delivery of a live send: claim it with a slot of a sender, wait for the time of the slot (a second at the most),
 * call the provider, write what came of it. A fault of the sender hands the send to another at once. Everything that happens
 * is a value; only our own failures (database away) throw.
 */
export async function deliver(context: WorkerContext, sendId: string): Promise<DeliveryEnd> {
  for (let reassignments = 0; reassignments < REASSIGNMENTS_MAX; reassignments++) {
    const end = await attempt(context, sendId);
    if (end.kind !== 'reassign') return end;
  }
  return { kind: 'not_due', waitMs: REST_MS };
}

async function attempt(context: WorkerContext, sendId: string): Promise<DeliveryEnd | { kind: 'reassign' }> {
  const { database, policy, leaseMs, senders, log, metrics } = context;
  const attemptId = newId();
  // crash point: worker before claim
  const round = await changeRoutedSend(database, sendId, (send, now, slot) => {
    const decision = claim(send, now, { attemptId, leaseMs, policy, slot });
    const begin = performance.now();
    const goesAt = begin + (slot?.waitMs ?? 0);
    const expiresAt = begin + send.expiresAt.getTime() - now.getTime();
    return { ...decision, result: { claimed: decision.result, send, slot, goesAt, expiresAt } };
  });
  if (round === null) return { kind: 'gone' };
  const { snapshot } = round;
  const { claimed, send, slot, goesAt, expiresAt } = round.result;
  if (claimed.kind !== 'claimed') return claimed;
  if (slot === null) throw new Error('a send was claimed without a slot');
  // crash point: worker after claim
  const sender = await senders.open(slot.sender.id);
  const mayBegin = await reached(goesAt, context.releaseClaim);
  // Looked at last of all: whoever was frozen meanwhile may have lost its claim, or the code its life.
  if (!mayBegin || performance.now() >= Math.min(goesAt + HELD_UP_MS_MAX, expiresAt)) {
    const back = await changeSendSnapshot(database, snapshot, (current, now) =>
      releaseClaim(current, now, attemptId),
    );
    return { kind: back ?? 'gone' };
  }

  const endTimer = metrics.attempts.startTimer();
  const outcome = await call(context, send, sender, attemptId);
  // crash point: worker after call
  const seconds = endTimer({ outcome: outcome.kind });
  if (outcome.kind === 'sender' || (outcome.kind === 'config' && outcome.scope !== 'request')) {
    await senders.faulted(sender, send, outcome);
    // crash point: worker after pause
  }

  // Nobody but a receipt or a new owner changes a claimed send, so what the claim left is most likely still so.
  const settlement = await changeSendSnapshot(database, snapshot, (current, now) =>
    settle(current, now, attemptId, outcome, policy, Math.random()),
  );
  // crash point: worker after settle
  if (settlement === null) return { kind: 'gone' };
  const facts = { send_id: sendId, attempt_id: attemptId, attempt: claimed.attempt, sender_id: sender.id };
  log.info(
    { ...facts, outcome: outcome.kind, settlement: settlement.kind, seconds, ...whyOf(outcome) },
    'attempt',
  );
  if (outcome.kind === 'accepted') await senders.succeeded(sender);
  if (outcome.kind === 'config' && outcome.scope === 'request') {
    metrics.configurationFaults.inc({ scope: 'request', error_code: String(outcome.errorCode ?? 'none') });
    log.error({ ...facts, ...whyOf(outcome) }, 'the provider refused a request of ours');
  }
  return settlement;
}

const whyOf = (outcome: Outcome): object =>
  outcome.kind === 'accepted' ? {} : { error_code: outcome.errorCode, reason: outcome.reason };

async function call(
  context: WorkerContext,
  send: Send,
  sender: OpenSender,
  attemptId: string,
): Promise<Outcome> {
  const code = openCode(context.secretKey, send);
  if (code === null)
    return {
      kind: 'retry',
      errorCode: null,
      reason: 'the sealed code cannot be opened: is a key missing from SECRET_KEY?',
      throttled: 'none',
      retryAfterSeconds: null,
    };
  const { token } = sender;
  if (token === null)
    return { kind: 'config', errorCode: null, reason: 'the sender’s token cannot be opened', scope: 'token' };

  const answer = context.cloudApi.sendCode(
    { phoneNumberId: sender.phoneNumberId, token },
    {
      to: send.recipient,
      code,
      template: sender.template,
      language: templateLanguage(send.locale, sender.englishTemplateLanguage),
      attemptId,
    },
  );
  // crash point: worker during call
  return untilReleased(answer, context.releaseClaim);
}

/** Waits until a time of `performance.now()`. @returns false when the worker has to stop before */
async function reached(at: number, releaseClaim: AbortSignal): Promise<boolean> {
  if (releaseClaim.aborted) return false;
  const ms = at - performance.now();
  if (ms <= 0) return true;
  return wait(ms, true, { signal: releaseClaim }).catch(() => false);
}

function openCode(secretKey: Keyring, send: Send): string | null {
  try {
    return unseal(secretKey, send.id, send.sealedCode as Uint8Array);
  } catch {
    return null;
  }
}

/**
 * The provider's answer, unless the worker has to stop first: the message may have gone, so the outcome is then unknown.
 * (`Promise.race` against a signal that lives as long as the process would keep every answer in memory.)
 */
function untilReleased(answer: Promise<Outcome>, releaseClaim: AbortSignal): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const onStop = (): void =>
      resolve({ kind: 'unknown', errorCode: null, reason: 'the worker stopped before the answer came' });
    if (releaseClaim.aborted) onStop();
    releaseClaim.addEventListener('abort', onStop);
    answer.finally(() => releaseClaim.removeEventListener('abort', onStop)).then(resolve, reject);
  });
}
