import { isDelivering } from '@onecode/domain';
import { deliveryWait, type DeliveryProgress, type SendDetails } from '@onecode/store/reports';
import { explanationView, type ExplanationView } from './errorExplanation.js';

/** The next step of a send. The pages have a text for each. */
export type NextStep =
  // Done.
  | 'verified'
  // Wait.
  | 'queued'
  | 'sending'
  | 'retrying'
  | 'unclear'
  | 'sent'
  | 'delivered'
  | 'guessing'
  | 'giving_up'
  // Operators can act.
  | 'not_taken_up'
  | 'no_sender'
  | 'held'
  | 'refused'
  // The integrator can act.
  | 'try_code'
  | 'unconfirmed'
  | 'locked'
  | 'expired_unconfirmed'
  | 'expired_unused'
  | 'rejected'
  | 'attempts_exhausted'
  | 'expired_before_delivery';

export interface NextStepView {
  step: NextStep;
  /** Why the provider rejected the message, if it did. */
  explanation: ExplanationView | null;
}

/** The facts on which the next step depends. */
export type SendProgress = DeliveryProgress &
  Pick<
    SendDetails,
    'mode' | 'status' | 'createdAt' | 'sentAt' | 'failureReason' | 'wrongGuesses' | 'attempts' | 'receipts'
  >;

/** Workers claim a send at once; a later claim means that something is wrong. */
const CLAIM_SECONDS_MAX = 15;
/** A phone that is online confirms delivery within seconds. */
const DELIVERY_SECONDS_MAX = 30;

/** Returns the next step of a send. @param isHeld whether a hold blocks it */
export function nextStepOf(send: SendProgress, isHeld: boolean, now: Date): NextStepView {
  if (send.verification === 'verified') return plain('verified');
  if (send.status === 'failed') return afterFailure(send);
  if (send.verification === 'locked') return plain('locked');
  return plain(send.verification === 'expired' ? afterExpiry(send) : whilePending(send, isHeld, now));
}

const plain = (step: NextStep): NextStepView => ({ step, explanation: null });

function afterFailure({ failureReason, attempts, receipts }: SendProgress): NextStepView {
  if (failureReason !== 'rejected_by_provider') return plain(failureReason ?? 'rejected');
  const reported = receipts.findLast(({ status }) => status === 'failed');
  const refused = attempts.flatMap(({ errorCode, outcome }) =>
    outcome === null || outcome === 'accepted' ? [] : [{ errorCode, outcome }],
  );
  const answered = refused.at(-1);
  const explanation =
    reported === undefined
      ? explanationView(answered?.errorCode ?? null, answered?.outcome ?? 'recipient')
      : explanationView(reported.errorCode, 'recipient');
  return { step: explanation.remedy === null ? 'refused' : 'rejected', explanation };
}

function afterExpiry(send: SendProgress): NextStep {
  if (isDelivering(send)) return 'giving_up';
  return send.status === 'sent' ? 'expired_unconfirmed' : 'expired_unused';
}

function whilePending(send: SendProgress, isHeld: boolean, now: Date): NextStep {
  const { status, mode, createdAt, sentAt, wrongGuesses } = send;
  if (wrongGuesses > 0) return 'guessing';
  if (isDelivering(send)) return whileDelivering(send, isHeld, now);
  if (mode === 'test') return 'try_code';
  if (status !== 'sent') return 'delivered';
  return secondsBetween(sentAt ?? createdAt, now) > DELIVERY_SECONDS_MAX ? 'unconfirmed' : 'sent';
}

function whileDelivering(send: SendProgress, isHeld: boolean, now: Date): NextStep {
  const mayHaveArrived = send.attempts.at(-1)?.outcome === 'unknown';
  const retrying = mayHaveArrived ? 'unclear' : 'retrying';
  switch (deliveryWait(send, isHeld)?.for) {
    case 'answer':
      return 'sending';
    case 'release':
      return 'held';
    case 'sender':
      return 'no_sender';
    case 'worker':
      if (secondsBetween(send.dueAt ?? send.createdAt, now) > CLAIM_SECONDS_MAX) return 'not_taken_up';
      return send.attempts.length === 0 ? 'queued' : retrying;
    case 'next_attempt':
      return retrying;
    default:
      return mayHaveArrived ? 'unclear' : 'giving_up';
  }
}

const secondsBetween = (from: Date, to: Date): number => (to.getTime() - from.getTime()) / 1000;
