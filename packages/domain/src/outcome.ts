/** How far a configuration fault reaches, and so what has to pause. */
export type FaultScope = 'token' | 'business' | 'template' | 'country' | 'app' | 'request';

/**
 * What one call to the provider came to.
 *
 * - `accepted`: the provider took the message and named it.
 * - `retry`: it certainly did not take the message; the same sender may try again. `throttled` says which window was full.
 * - `unknown`: the message may have gone (time-out or reset after writing, an answer without a message id).
 * - `sender`: this sender cannot send now; another can.
 * - `recipient`: nobody can send to this recipient; the send has failed.
 * - `config`: an operator has to act on what `scope` names.
 *
 * `errorCode` is the provider's code where it gave one. `reason` is one of our own fixed sentences: never a text of the
 * provider's, which may quote a phone number.
 */
export type Outcome =
  | { kind: 'accepted'; messageId: string }
  | {
      kind: 'retry';
      errorCode: number | null;
      reason: string;
      throttled: 'none' | 'sender' | 'pair' | 'business';
      /** Seconds that the provider asked to wait, or null. */
      retryAfterSeconds: number | null;
    }
  | { kind: 'unknown'; errorCode: number | null; reason: string }
  | { kind: 'sender'; errorCode: number | null; reason: string }
  | { kind: 'recipient'; errorCode: number | null; reason: string }
  | { kind: 'config'; errorCode: number | null; reason: string; scope: FaultScope };
