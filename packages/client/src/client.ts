import type { CreateSend, Send, SignupSettings } from './contract.js';
import { checkOptions, type CallLimits } from './options.js';
import { readSend, readSignupSettings } from './reads.js';
import { createSend } from './send.js';
import { createExchange, type Exchange } from './transport.js';
import type { OnecodeOptions, RequestOptions, SendOptions, VerifyResult, WaitForOptions } from './types.js';
import { verifyCode } from './verify.js';
import { verifyInOrder } from './verifyLatest.js';
import { waitForSend } from './waitFor.js';

/** The client of the service, for your server. Create one for all requests of an application. */
export class Onecode {
  /** The service's address. */
  readonly baseUrl: string;
  readonly #exchange: Exchange;
  readonly #limits: CallLimits;

  /** @throws OnecodeError in a browser, without a key, with an invalid key or address, or with an address that is not https */
  constructor(options: OnecodeOptions) {
    const checked = checkOptions(options);
    this.baseUrl = checked.baseUrl;
    this.#limits = { maxRetries: checked.maxRetries, deadlineMs: checked.deadlineMs };
    this.#exchange = createExchange(checked);
  }

  /**
   * Sends a code. The send is accepted, but not delivered yet.
   *
   * Retries after lost responses, timeouts, 408, 425, 500, and 502 and above, up to `maxRetries` times with growing waits; also after 429
   * if its `Retry-After` is at most 30 seconds. No wait exceeds `deadlineMs`. All tries use the same idempotency key and the same bytes:
   * one send, one unit.
   *
   * @throws ProblemError when the service refused it, ConnectionError when the last try got no response. Both contain the `idempotencyKey`:
   *   call again with it and the same input to continue with the same send.
   */
  async send(input: CreateSend, options?: SendOptions): Promise<Send> {
    return createSend(this.#exchange, this.#limits, input, options);
  }

  /**
   * Reads a send once. `status: 'read'` and `verification: 'verified'` do not authenticate the user.
   *
   * @throws ProblemError, ConnectionError
   */
  async status(id: string, { signal }: RequestOptions = {}): Promise<Send> {
    return (await readSend(this.#exchange, id, signal)).send;
  }

  /**
   * Verifies what the user typed (see `normalizeCode`), with a single request. Only `valid: true` authenticates the user.
   *
   * @param id of a send that your own records bind to this user's session, never an id from a browser
   * @throws IndeterminateVerificationError when the code may or may not have been checked. Do not verify again: continue only if your own
   *   backend already recorded `valid: true`, otherwise create a new send.
   * @throws ConnectionError when nothing was sent: the connection was refused, or the host is unknown. The user can try again.
   * @throws ProblemError when the service refused the request
   */
  async verify(id: string, code: string, { signal }: RequestOptions = {}): Promise<VerifyResult> {
    return verifyCode(this.#exchange, id, code, signal);
  }

  /**
   * Verifies what the user typed against the session's latest sends, the newest first, then the one before: users often type the code that
   * arrived first. **A wrong code counts as one guess on each of them**, and twice against the guesses of the number.
   *
   * @param sendIds one or two, the newest first, as `addSendId` returns them: all to the same number, all from your own session
   * @returns the result of the send with that code, or else of the newest send that can still be verified
   * @throws as `verify`, with one request for each send. After an `IndeterminateVerificationError`, drop all ids.
   */
  async verifyLatest(
    sendIds: readonly string[],
    code: string,
    { signal }: RequestOptions = {},
  ): Promise<VerifyResult> {
    return verifyInOrder(sendIds, (id) => verifyCode(this.#exchange, id, code, signal));
  }

  /**
   * Waits until a send has reached `until`. Reads it immediately, after one second, and then at growing intervals of up to five. Retries
   * failed reads until the code expires.
   *
   * @returns the send as last read: it has reached `until` or a later status, its `status` is `failed`, or its code's deadline has passed
   *   by the server's clock. Check `status`.
   * @throws ProblemError, and ConnectionError when reads failed to the end
   */
  async waitFor(id: string, options: WaitForOptions): Promise<Send> {
    const read = () => readSend(this.#exchange, id, options.signal);
    return waitForSend(read, this.#limits.maxRetries, options);
  }

  /**
   * Reads the offer for new sign-ups, once and without the key.
   *
   * @throws ProblemError, ConnectionError
   */
  async signupSettings({ signal }: RequestOptions = {}): Promise<SignupSettings> {
    return readSignupSettings(this.#exchange, signal);
  }
}
