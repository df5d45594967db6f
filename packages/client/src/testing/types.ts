import type { CreateSend, DeliveryStatus, Send, Verification } from '../contract.js';

/** The delivery status of a live send `afterMs` milliseconds (default 0) after its creation, by the server clock. */
export type Delivery =
  | { status: Exclude<DeliveryStatus, 'failed'>; afterMs?: number | undefined }
  /** `expired_before_delivery` happens at `expires_at` unless `afterMs` sets another time. */
  | { status: 'failed'; reason: NonNullable<Send['failure_reason']>; afterMs?: number | undefined };

/** The code's state right after the create response; `expired` creates codes that are valid for one millisecond. */
export interface CodeState {
  verification: Exclude<Verification, 'pending'>;
}

export type Operation = 'send' | 'status' | 'verify';

/** What the next request, or the next `times` requests, get instead of a normal response. */
export type Fault = { times?: number | undefined } & (
  | { answer: 'insufficient_credits' }
  | { answer: 'rate_limited'; retryAfterSeconds?: number | undefined }
  | {
      /** `lost`: the connection closes without a response. */
      answer: 'internal_error' | 'lost';
      /** Default: `send`. */
      on?: Operation | undefined;
      /** Whether the send is stored, or the guess checked, before the fault. Default: false. */
      afterWork?: boolean | undefined;
    }
);

export type Outcome = Delivery | CodeState | Fault;

/** The account that is charged. A test may change the fields at any time. */
export interface Account {
  freeQuota: number;
  credits: number;
  /** New sends of all its applications in a minute. */
  ratePerMinute: number;
}

/** Limits on new sends; null is none. A test may change them at any time. */
export interface Limits {
  perMinute: number | null;
  perRecipientHour: number | null;
}

export interface Application extends Limits {
  readonly mode: Send['mode'];
  readonly account: Account;
}

/** The contract's fields, and fields that only the server and the recipient know. */
export interface RecordedSend extends Send {
  /** E.164. */
  to: string;
  code: string;
  /** The language of the request; null uses the language of the account. */
  locale: NonNullable<CreateSend['locale']> | null;
  /** The key, with one character for each byte. */
  idempotencyKey: string | null;
}

/** Account and limits: 10 free sends (`freeSends`), 1000 credits, 600 new sends a minute, and no limit of an application. */
export interface OnecodeServerOptions extends Partial<Account>, Partial<Limits> {
  /** Default: 600. */
  codeValiditySeconds?: number;
  /** The value in the sign-up settings. Default: 10. */
  freeSends?: number;
  /** The delivery of live sends without a script. Default: `{ status: 'delivered' }`. */
  delivery?: Delivery | readonly Delivery[];
  /** Default: a free one. */
  port?: number;
  /** The address at which it listens, such as `0.0.0.0` in a container. Default: `127.0.0.1`, which other machines cannot reach. */
  host?: string;
  /** API keys for a program that is configured before the double starts, `ak_live_…` and `ak_test_…`. Default: random ones. */
  keys?: Partial<Record<Send['mode'], string>>;
}

/** The contract in memory. `baseUrl` is its address on this machine. */
export interface OnecodeServer {
  readonly baseUrl: string;
  /** The keys of the two `applications`, which belong to `account`. */
  readonly keys: Readonly<Record<Send['mode'], string>>;
  readonly applications: Readonly<Record<Send['mode'], Application>>;
  readonly account: Account;
  /** All sends in their current state, the oldest first. */
  readonly sends: readonly RecordedSend[];
  /** The time of the clock that `advance` moves. */
  now(): Date;
  /** The code of the latest send to a number. @throws Error if there is none */
  lastCode(to: string): string;
  /**
   * Sets what happens to sends to a number. Deliveries and code states apply until you script others; deliveries also apply to sends in
   * progress, counted from now. Faults happen once, or `times` times, in their order.
   *
   * @throws RangeError unless `to` is a phone number, and TypeError for an outcome with unknown fields or values
   */
  script(to: string, ...outcomes: Outcome[]): void;
  /** Moves the clock, which affects deadlines, deliveries and limits. @throws RangeError for negative seconds */
  advance(seconds: number): void;
  /** Adds an application, in its own account unless one is given. */
  addApplication(mode: Send['mode'], account?: Account): Application;
  /** Adds a key to an application. */
  addKey(application: Application): string;
  /** @throws Error unless the key exists */
  revokeKey(key: string): void;
  /** Closes the port and every connection. */
  close(): Promise<void>;
}
