import { writeJobText, type JobFault } from '@onecode/runtime';
import { explainError } from '@onecode/whatsapp';
import type { DeliveryRound } from './deliver.js';

/** What BullMQ is told of a round that needs no other: whether somebody should look at it, and how it ended. */
export interface JobEnd {
  isFailure: boolean;
  text: string;
}

/** How a round of delivery ended, for the queue board: a failed job only if somebody should look at it. */
export function jobEnd(round: DeliveryRound): JobEnd {
  const { end } = round;
  const text = jobText(round);
  if (end.kind === 'failed')
    return { isFailure: end.reason === 'attempts_exhausted' || isConfigurationFault(round), text };
  return { isFailure: end.kind === 'no_sender' && isConfigurationFault(round), text };
}

/** How the round ended and the fault that it met, if any: our word for the end, then the provider's code and its meaning. */
function jobText({ end, fault }: DeliveryRound): string {
  const word = end.kind === 'failed' ? end.reason : end.kind;
  // An accepted message leaves nothing to say about the senders that were tried before.
  if (fault === null || word === 'accepted') return word;
  return writeJobText(
    { end: word, fault: jobFault(fault) },
    explainError(fault.outcome.errorCode, fault.outcome.kind).meaning.english,
  );
}

function jobFault({ outcome, own }: NonNullable<DeliveryRound['fault']>): JobFault {
  return own ?? { code: outcome.errorCode, kind: outcome.kind };
}

const isConfigurationFault = ({ fault }: DeliveryRound): boolean =>
  fault !== null && (fault.outcome.kind === 'config' || fault.own !== null);
