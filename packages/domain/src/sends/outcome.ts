/** What a configuration fault concerns, and so what has to pause. */
export type FaultScope = 'token' | 'business' | 'template' | 'country' | 'app' | 'request';

/** Whose limit was reached: that of one sender and one recipient (a pair), of a sender, of a business account, or of the app. */
export type ThrottleScope = 'pair' | 'sender' | 'business' | 'app';

/**
 * The outcome of one call to the provider.
 *
 * - `accepted`: the provider accepted the message and gave it an id.
 * - `retry`: the provider certainly did not accept the message; the message may be tried again. `throttled` says whose
 *   limit was reached, if that is why. `isRefusal`: it refused the message by a code that we do not know.
 * - `unknown`: the message may have gone out (time-out or reset after writing, an answer without a message id).
 * - `sender`: this sender cannot send now; another may.
 * - `recipient`: no sender can reach this recipient; the send has failed.
 * - `config`: an operator has to act on what `scope` names.
 *
 * `errorCode` is the provider's code, null where it gave none. `reason` is one of our own fixed sentences, never the provider's text,
 * which may quote a phone number.
 */
export type Outcome =
  | { kind: 'accepted'; messageId: string }
  | {
      kind: 'retry';
      errorCode: number | null;
      reason: string;
      throttled: 'none' | ThrottleScope;
      /** Seconds that the provider asked to wait, or null. */
      retryAfterSeconds: number | null;
      isRefusal?: boolean;
    }
  | { kind: 'unknown'; errorCode: number | null; reason: string }
  | { kind: 'sender'; errorCode: number | null; reason: string }
  | { kind: 'recipient'; errorCode: number | null; reason: string }
  | { kind: 'config'; errorCode: number | null; reason: string; scope: FaultScope };

/** No call was made, because the code cannot be decrypted. */
export const UNREADABLE_CODE = {
  kind: 'retry',
  errorCode: null,
  reason: 'the code cannot be decrypted: is a key missing from SECRET_KEY?',
  throttled: 'none',
  retryAfterSeconds: null,
} as const satisfies Outcome;

/** No call was made, because the sender's token cannot be decrypted. */
export const UNREADABLE_TOKEN = {
  kind: 'config',
  errorCode: null,
  reason: 'the sender’s token cannot be decrypted',
  scope: 'token',
} as const satisfies Outcome;

/** An unknown code may pass, until so many attempts of a send have met it. */
const SAME_REFUSALS_MAX = 3;

/**
 * An attempt's outcome, where earlier attempts of its send met the same unknown code: finally the request is at fault, so that the send
 * fails and an operator hears of it.
 *
 * @param before how many earlier attempts met the same code
 */
export function afterSameRefusals(outcome: Outcome, before: number): Outcome {
  if (outcome.kind !== 'retry' || outcome.isRefusal !== true || before + 1 < SAME_REFUSALS_MAX)
    return outcome;
  const { errorCode, reason } = outcome;
  return { kind: 'config', errorCode, reason, scope: 'request' };
}
