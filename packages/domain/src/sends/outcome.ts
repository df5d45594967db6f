/** The subject of a configuration fault, which decides what is blocked. */
export type FaultScope = 'token' | 'business' | 'portfolio' | 'template' | 'country' | 'app' | 'request';

/**
 * The status of an accepted message that the provider does not send immediately. The provider reviews the first messages of a new or
 * unverified business portfolio, then sends or drops the held ones.
 */
export type MessageStatus = 'held_for_quality_assessment' | 'paused';

/**
 * The outcome of one call to the provider.
 *
 * - `accepted`: the provider accepted the message and returned its id. `messageId` is the SHA-256 of that id.
 * - `retry`: the provider certainly did not accept the message, which may be tried again. `throttled`: the subject of the rate limit that
 *   was reached, if any.
 * - `unknown`: the message may have been sent (time-out or reset after writing, a response without a message id).
 * - `sender`: this sender cannot send now; another may.
 * - `recipient`: no sender can reach this recipient; the send has failed.
 * - `config`: an operator has to fix the subject named by `scope`.
 *
 * `errorCode` is the provider's code, or null. `reason` is one of our own fixed sentences, never the provider's text, which may quote a
 * phone number.
 */
export type Outcome =
  | { kind: 'accepted'; messageId: string; messageStatus?: MessageStatus }
  | {
      kind: 'retry';
      errorCode: number | null;
      reason: string;
      throttled: 'none' | 'pair' | 'sender' | 'business';
      /** Seconds that the provider asked us to wait, or null. */
      retryAfterSeconds: number | null;
    }
  | { kind: 'unknown'; errorCode: number | null; reason: string }
  | { kind: 'sender'; errorCode: number | null; reason: string }
  | { kind: 'recipient'; errorCode: number | null; reason: string }
  | { kind: 'config'; errorCode: number | null; reason: string; scope: FaultScope };

/** The longest wait, whatever the provider requests. */
export const PROVIDER_WAIT_MS_MAX = 900_000;

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

/** The outcome of a call after its worker was stopped, killed or frozen before the response arrived. */
export const NO_RESPONSE = {
  kind: 'unknown',
  errorCode: null,
  reason: 'the worker stopped before the response arrived',
} as const satisfies Outcome;

/** The provider's error code for a message that it held and then dropped. For other messages, it is a refusal without a reason. */
const DROPPED = 135000;

/** Returns a reported failure. If the provider held the message and then dropped it, the failure is a fault of the portfolio. */
export function afterHold<Failure extends Exclude<Outcome, { kind: 'accepted' }>>(
  failure: Failure,
  messageStatus: MessageStatus | null,
): Failure | (Failure & Extract<Outcome, { kind: 'config' }>) {
  if (failure.errorCode !== DROPPED || messageStatus !== 'held_for_quality_assessment') return failure;
  return { ...failure, kind: 'config', reason: PORTFOLIO_HELD, scope: 'portfolio' };
}

export const PORTFOLIO_HELD =
  'WhatsApp held the message and then dropped it: the sender’s business portfolio may not send.';
