import type { Send, Verification } from './contract.js';
import type { Fetch, Signal } from './fetch.js';

export interface OnecodeOptions {
  /** The key of an application, `ak_test_…` or `ak_live_…`. It decides the account and the mode. Keep it on your server. Undefined, as an
   * environment variable may be, it is refused. */
  apiKey: string | undefined;
  /** The service's address, such as `https://codes.example.com`, with or without a path. `http:` is for this machine and `testHosts`. */
  baseUrl: string | { readonly href: string } | undefined;
  /** Hosts of a test double to which `http:` is allowed, such as `['onecode']` for a container. Never the service's: the key would be
   * readable on its way. */
  testHosts?: readonly string[] | undefined;
  /** How long one try may take, answer included. 10 000 by default. */
  timeoutMs?: number | undefined;
  /** How often `send` tries again after its first try. 3 by default. */
  maxRetries?: number | undefined;
  /** How long one call may take, with all its tries and the waits between them. 15 000 by default. `waitFor` goes on from call to call. */
  deadlineMs?: number | undefined;
  /** Makes the requests in place of the global `fetch`. It must pass `init` on as it is. */
  fetch?: Fetch | undefined;
}

export interface RequestOptions {
  /** Ends the request. What is thrown then is its reason. */
  signal?: Signal | undefined;
}

export interface SendOptions {
  /** One for each code that you want sent, kept until you know the outcome. A new UUID unless given. */
  idempotencyKey?: string | undefined;
  /** Ends tries and waits. What is thrown then is its reason, and the send may exist. */
  signal?: Signal | undefined;
}

export interface WaitForOptions {
  /** The delivery status that is waited for; a later one does as well. */
  until: 'sent' | 'delivered' | 'read';
  /** Ends the wait. What is thrown then is its reason. */
  signal?: Signal | undefined;
  /** Called with the first send that is read, and again whenever it has changed. It is waited for. */
  onUpdate?: ((send: Send) => void | Promise<void>) | undefined;
}

/** What a verification came to. Only `valid: true` lets anybody in, and only once. */
export type VerifyResult =
  | {
      /** The right code, in the one call that verifies it. */
      valid: true;
      verification: 'verified';
      attempts_left: 0;
    }
  | {
      /** A wrong code; or the right one after the deadline, after five wrong ones, or after it was used. */
      valid: false;
      /** The state of the code. `verified`: it was used before. */
      verification: Verification;
      /** Wrong codes that are still allowed. */
      attempts_left: number;
    };
