import type { CreateSend, Send, SignupSettings } from './contract.js';
import { checkOptions, type CallLimits } from './options.js';
import { readSend, readSignupSettings } from './reads.js';
import { createSend } from './send.js';
import { createExchange, type Exchange } from './transport.js';
import type { OnecodeOptions, RequestOptions, SendOptions, VerifyResult, WaitForOptions } from './types.js';
import { verifyCode } from './verify.js';
import { verifyInOrder } from './verifyLatest.js';
import { waitForSend } from './waitFor.js';

/** Onecode, from an integrator's server. One client serves all requests of an application. */
export class Onecode {
  /** The service's address. */
  readonly baseUrl: string;
  readonly #exchange: Exchange;
  readonly #limits: CallLimits;

  /** @throws OnecodeError in a browser, without a key, with a key or an address of another form, or with one that is not https */
  constructor(options: OnecodeOptions) {
    const checked = checkOptions(options);
    this.baseUrl = checked.baseUrl;
    this.#limits = { maxRetries: checked.maxRetries, deadlineMs: checked.deadlineMs };
    this.#exchange = createExchange(checked);
  }

  /**
   * Sends a code. The send is accepted then, not delivered.
   *
   * Lost answers, time-outs, 408, 425, 500, and 502 and above are tried again up to `maxRetries` times, after growing waits; so is 429,
   * when its `Retry-After` is at most 30 seconds. No wait goes beyond `deadlineMs`. All tries have the same idempotency key and the same
   * bytes: one send, one unit.
   *
   * @throws ProblemError when the service refused it, ConnectionError when the last try brought no answer of the service. Both hold the
   *   `idempotencyKey`: with it, the same input goes on with the same send.
   */
  async send(input: CreateSend, options?: SendOptions): Promise<Send> {
    return createSend(this.#exchange, this.#limits, input, options);
  }

  /**
   * Reads a send once. `status: 'read'` and `verification: 'verified'` authenticate nobody.
   *
   * @throws ProblemError, ConnectionError
   */
  async status(id: string, { signal }: RequestOptions = {}): Promise<Send> {
    return (await readSend(this.#exchange, id, signal)).send;
  }

  /**
   * Verifies what a person typed (see `normalizeCode`), with one request and never a second. Only `valid: true` authenticates.
   *
   * @param id of a send that your own records bind to this person's session, never one that came from a browser
   * @throws IndeterminateVerificationError when it is not known whether the code was judged. Do not verify again: go on only if your own
   *   backend already recorded `valid: true`, otherwise start a new send.
   * @throws ConnectionError when nothing was sent: the connection was refused, or the host is unknown. The person may try again.
   * @throws ProblemError when the service refused the request
   */
  async verify(id: string, code: string, { signal }: RequestOptions = {}): Promise<VerifyResult> {
    return verifyCode(this.#exchange, id, code, signal);
  }

  /**
   * Verifies what a person typed against the session's latest sends, the newest first, then the one before: people often type the code
   * that arrived first. **A wrong code counts as one guess on each of them**, and twice against the guesses of the number.
   *
   * @param sendIds one or two, the newest first, as `addSendId` returns them: all to the same number, all from your own session
   * @returns the result of the send whose code it is, or else of the newest send that can still be verified
   * @throws as `verify`, of which it makes one request for each send and never a second. After an `IndeterminateVerificationError`, drop
   *   all ids.
   */
  async verifyLatest(
    sendIds: readonly string[],
    code: string,
    { signal }: RequestOptions = {},
  ): Promise<VerifyResult> {
    return verifyInOrder(sendIds, (id) => verifyCode(this.#exchange, id, code, signal));
  }

  /**
   * Waits until a send has got as far as `until`, by reading it at a moderate pace: after one second, then at growing intervals of up to
   * five. Readings that fail are made again, while the code lives.
   *
   * @returns the send as it was read last, for three reasons: it is as far as `until` or further; or its `status` is `failed`; or its
   *   code's deadline has passed, by the server's clock. Look at `status`.
   * @throws ProblemError, and ConnectionError when readings failed to the end
   */
  async waitFor(id: string, options: WaitForOptions): Promise<Send> {
    const read = () => readSend(this.#exchange, id, options.signal);
    return waitForSend(read, this.#limits.maxRetries, options);
  }

  /**
   * Reads what new sign-ups are offered, once and without the key.
   *
   * @throws ProblemError, ConnectionError
   */
  async signupSettings({ signal }: RequestOptions = {}): Promise<SignupSettings> {
    return readSignupSettings(this.#exchange, signal);
  }
}
