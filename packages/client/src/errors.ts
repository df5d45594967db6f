import type { Problem, ProblemCode } from './contract.js';

/**
 * The base class of all errors of the SDK, except the reason of a caller's own signal. An instance of the class itself is a mistake in the
 * call: nothing was sent.
 */
export class OnecodeError extends Error {
  override readonly name: string = 'OnecodeError';
}

/** Facts about a request apart from its outcome. Each is undefined if there is none. */
interface ExchangeFacts {
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly idempotencyKey?: string | undefined;
}

abstract class ExchangeError extends OnecodeError {
  /** The HTTP status, if there was a response. */
  readonly status: number | undefined;
  /** The response's `X-Request-Id`: include it when you ask about the request. */
  readonly requestId: string | undefined;
  /** The seconds of the response's `Retry-After`. With 429: the time before the same input can be sent again. */
  readonly retryAfterSeconds: number | undefined;
  /** The key that all tries of a `send` used. Call `send` again with it and the same input to continue, without a second charge. */
  readonly idempotencyKey: string | undefined;

  constructor(message: string, facts: ExchangeFacts, options?: ErrorOptions) {
    super(message, options);
    this.status = facts.status;
    this.requestId = facts.requestId;
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.idempotencyKey = facts.idempotencyKey;
  }
}

/** The service refused the request, and no user was authenticated. Branch on `code` only. */
export class ProblemError extends ExchangeError {
  override readonly name = 'ProblemError';
  declare readonly status: number;
  /** The error code. A newer service may return codes that this version does not list. */
  readonly code: ProblemCode;
  /** A sentence for developers. It may change, so do not compare it. */
  readonly detail: string | undefined;
  /** A message for each invalid field, by the field's name. */
  readonly errors: Readonly<Record<string, string>> | undefined;

  constructor({ code, status, detail, errors }: Problem, facts: ExchangeFacts) {
    super(`${code} (${status})${detail === undefined ? '' : `: ${detail}`}`, { ...facts, status });
    this.code = code;
    this.detail = detail;
    this.errors = errors;
  }
}

/**
 * The service did not respond: the connection failed or was cut, time ran out, or something else responded. After `send`, the send may
 * exist: call `send` again with `idempotencyKey` and the same input, and at most one is created. After `verify`, nothing was sent.
 */
export class ConnectionError extends ExchangeError {
  override readonly name = 'ConnectionError';
}

/**
 * The code may or may not have been checked, and it may have been used up. Do not verify it again: even the right code would now get
 * `valid: false`. Continue only if your own backend already recorded `valid: true` for this send; otherwise create a new send, with a new
 * idempotency key. Do not sign the user in because `status(sendId)` shows `verified`: it does not show who verified the code.
 */
export class IndeterminateVerificationError extends ExchangeError {
  override readonly name = 'IndeterminateVerificationError';

  constructor(
    /** The send that was to be verified. */
    readonly sendId: string,
    message: string,
    facts: ExchangeFacts,
    options?: ErrorOptions,
  ) {
    super(message, facts, options);
  }
}
