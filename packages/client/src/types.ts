import type { Send, Verification } from './contract.js';
import type { Fetch, Signal } from './fetch.js';

export interface OnecodeOptions {
  /** The key of an application, `ak_test_…` or `ak_live_…`, which sets account and mode. Keep it on your server. Undefined is refused. */
  apiKey: string | undefined;
  /**
   * The address of the service, such as `https://codes.example.com`. It may have a path, without `/v1`. `http:` only for this machine and
   * `testHosts`.
   */
  baseUrl: string | { readonly href: string } | undefined;
  /** Hosts of a test double that may use `http:`, such as `['onecode']`. Never the service: the key would be readable in transit. */
  testHosts?: readonly string[] | undefined;
  /** The time limit of one try, including its response. 10 000 by default. */
  timeoutMs?: number | undefined;
  /** How often `send` tries again after its first try. 3 by default. */
  maxRetries?: number | undefined;
  /** The time for one call, with all its tries and waits. 15 000 by default. For `waitFor`, it limits each read, not the whole wait. */
  deadlineMs?: number | undefined;
  /** Makes the requests instead of the global `fetch`. It must pass `init` on unchanged. */
  fetch?: Fetch | undefined;
}

export interface RequestOptions {
  /**
   * Ends the request, which then throws the signal's reason. A verification that was already sent throws an
   * `IndeterminateVerificationError` instead.
   */
  signal?: Signal | undefined;
}

export interface SendOptions {
  /** A key for each code that you want to send. Keep it until you know the outcome. A new UUID by default. */
  idempotencyKey?: string | undefined;
  /** Ends tries and waits. The call then throws its reason, and the send may exist. */
  signal?: Signal | undefined;
}

export interface WaitForOptions {
  /** The delivery status to wait for. A later one also ends the wait. */
  until: 'sent' | 'delivered' | 'read';
  /** Ends the wait, which then throws the signal's reason. */
  signal?: Signal | undefined;
  /** Called with the first send that is read, and again after each change. `waitFor` awaits it. */
  onUpdate?: ((send: Send) => void | Promise<void>) | undefined;
}

/** The result of a verification. Sign the user in only on `valid: true`, which comes only once. */
export type VerifyResult =
  | {
      /** The right code, in the single call that verifies it. */
      valid: true;
      verification: 'verified';
      attempts_left: 0;
    }
  | {
      /** A wrong code; or the right code after the deadline, after five wrong codes, or after it was used. */
      valid: false;
      /** The state of the code. `verified`: it was used before. */
      verification: Verification;
      /** The number of wrong codes still allowed. */
      attempts_left: number;
    };
