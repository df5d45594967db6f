import type { AttemptOutcome } from '@onecode/domain';
import { knownError, PORTFOLIO_DROPPED, UNKNOWN_SENDER, type ErrorOwner } from './errorTable.js';
import { REMEDIES, type RemedyName } from './remedies.js';

export type { ErrorOwner } from './errorTable.js';

/** A sentence in English, and the key of its translations. */
export interface NamedText {
  name: string;
  english: string;
}

export interface Explanation {
  /** What happened to the message, written for the integrator. */
  meaning: NamedText;
  /** What to do, written for the `owner`. */
  remedy: NamedText;
  owner: ErrorOwner;
}

type FailureKind = Exclude<AttemptOutcome, 'accepted'>;

/** The explanations of attempts without a known code, by outcome. */
const BY_OUTCOME: Readonly<Record<FailureKind, readonly [meaning: string, RemedyName, ErrorOwner]>> = {
  retry: ['WhatsApp did not accept the message, for a reason that may pass.', 'retried', 'provider'],
  unknown: [
    'WhatsApp’s response was lost, so the message may or may not have been sent.',
    'wait_for_receipt',
    'none',
  ],
  sender: ['WhatsApp did not let this sender send.', 'check_number', 'us'],
  recipient: ['WhatsApp reported that it did not deliver the message.', 'other_number', 'recipient'],
  config: ['WhatsApp refused the message because of how the sender is set up.', 'check_sender', 'us'],
};

/**
 * Returns the meaning and the remedy of one of Meta's errors. Without a known code, it explains the outcome of the attempt. The codes are
 * Meta's ("Error codes" of the WhatsApp Business Platform), the sentences are not.
 *
 * @param code Meta's error code, or null if there is none
 * @param outcome how the attempt ended; `recipient` for a receipt that reports a failure
 */
export function explainError(code: number | null, outcome: FailureKind): Explanation {
  const known = findKnown(code, outcome);
  if (known === undefined) return explanation(outcome, ...BY_OUTCOME[outcome]);
  // The class of a known code takes precedence, because receipts report all failures with the same outcome.
  const { name, fault, remedy } = known;
  // The operator can raise limits or send more slowly.
  const isLimit = fault.kind === 'retry' && fault.throttled !== 'none';
  return explanation(name, fault.reason, remedy, known.owner ?? (isLimit ? 'us' : BY_OUTCOME[fault.kind][2]));
}

function findKnown(code: number | null, outcome: FailureKind): ReturnType<typeof knownError> {
  if (code === 100 && outcome === 'sender') return UNKNOWN_SENDER;
  return code === 135000 && outcome === 'config' ? PORTFOLIO_DROPPED : knownError(code);
}

const explanation = (name: string, meaning: string, remedy: RemedyName, owner: ErrorOwner): Explanation => ({
  meaning: { name, english: meaning },
  remedy: { name: remedy, english: REMEDIES[remedy] },
  owner,
});
