import type { Problem, ProblemCode } from './contract.js';

/**
 * The base class of everything that the SDK throws, except the reason of a caller's own signal. Itself, it is a mistake in how the SDK
 * was called: nothing was sent then.
 */
export class OnecodeError extends Error {
  override readonly name: string = 'OnecodeError';
}

/** What is known of an exchange besides its outcome. Each part is undefined where there was none. */
interface ExchangeFacts {
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly idempotencyKey?: string | undefined;
}

abstract class ExchangeError extends OnecodeError {
  /** The HTTP status, where something answered. */
  readonly status: number | undefined;
  /** The answer's `X-Request-Id`: quote it when you ask about the request. */
  readonly requestId: string | undefined;
  /** The seconds of the answer's `Retry-After`. With 429: the time before the same input may be sent again. */
  readonly retryAfterSeconds: number | undefined;
  /** Of `send`: the key that all its tries had. The same key and the same input go on with that send, and charge nothing twice. */
  readonly idempotencyKey: string | undefined;

  constructor(message: string, facts: ExchangeFacts, options?: ErrorOptions) {
    super(message, options);
    this.status = facts.status;
    this.requestId = facts.requestId;
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.idempotencyKey = facts.idempotencyKey;
  }
}

/** The service refused the request, in the words of the contract. Nobody was authenticated by it. Branch on `code` alone. */
export class ProblemError extends ExchangeError {
  override readonly name = 'ProblemError';
  declare readonly status: number;
  /** What went wrong. A newer service may give codes that this version does not name. */
  readonly code: ProblemCode;
  /** A sentence for people. It may change; do not compare it. */
  readonly detail: string | undefined;
  /** A message for each faulty field, by the field's name. */
  readonly errors: Readonly<Record<string, string>> | undefined;

  constructor({ code, status, detail, errors }: Problem, facts: ExchangeFacts) {
    super(`${code} (${status})${detail === undefined ? '' : `: ${detail}`}`, { ...facts, status });
    this.code = code;
    this.detail = detail;
    this.errors = errors;
  }
}

/**
 * No answer of the service came: the connection failed or was cut, time ran out, or something else answered. After `send` it is not
 * known whether the send exists: call `send` again with `idempotencyKey` and the same input, and it is made once at most. After `verify`,
 * nothing was sent.
 */
export class ConnectionError extends ExchangeError {
  override readonly name = 'ConnectionError';
}

/**
 * It is not known whether the code was judged, and it may have been used up. Do not verify it again: a right code would now be answered
 * with `valid: false`. Go on only if your own backend already recorded `valid: true` for this send; otherwise start a new send, with a
 * new idempotency key. `status(sendId)` may show `verified`, and that alone lets nobody in: it does not say who gave the code.
 */
export class IndeterminateVerificationError extends ExchangeError {
  override readonly name = 'IndeterminateVerificationError';

  constructor(
    /** The send whose code was to be verified. */
    readonly sendId: string,
    message: string,
    facts: ExchangeFacts,
    options?: ErrorOptions,
  ) {
    super(message, facts, options);
  }
}
