/** What a configuration fault concerns, and so what has to pause. */
export type FaultScope = 'token' | 'business' | 'template' | 'country' | 'app' | 'request';

/**
 * The outcome of one call to the provider.
 *
 * - `accepted`: the provider accepted the message and gave it an id.
 * - `retry`: the provider certainly did not accept the message; the same sender may try again. `throttled` says whose
 *   limit was reached; `recipient_window` is that of this sender and this recipient.
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
      throttled: 'none' | 'sender' | 'recipient_window' | 'business';
      /** Seconds that the provider asked to wait, or null. */
      retryAfterSeconds: number | null;
    }
  | { kind: 'unknown'; errorCode: number | null; reason: string }
  | { kind: 'sender'; errorCode: number | null; reason: string }
  | { kind: 'recipient'; errorCode: number | null; reason: string }
  | { kind: 'config'; errorCode: number | null; reason: string; scope: FaultScope };
