import type { CreateSend, DeliveryStatus, Send, Verification } from '../contract.js';

/** Where a live send's delivery is `afterMs` milliseconds (default 0) after its creation, by the server's clock. */
export type Delivery =
  | { status: Exclude<DeliveryStatus, 'failed'>; afterMs?: number | undefined }
  /** `expired_before_delivery` comes at `expires_at` unless `afterMs` says another time. */
  | { status: 'failed'; reason: NonNullable<Send['failure_reason']>; afterMs?: number | undefined };

/** The code's state right after the creation was answered; `expired` makes codes that live for one millisecond. */
export interface CodeState {
  verification: Exclude<Verification, 'pending'>;
}

export type Operation = 'send' | 'status' | 'verify';

/** What the next request, or the next `times` requests, meet in place of their answer. */
export type Fault = { times?: number | undefined } & (
  | { answer: 'insufficient_credits' }
  | { answer: 'rate_limited'; retryAfterSeconds?: number | undefined }
  | {
      /** `lost`: the connection closes without an answer. */
      answer: 'internal_error' | 'lost';
      /** Default: `send`. */
      on?: Operation | undefined;
      /** Whether the send is stored, or the guess judged, before that. Default: false. */
      afterWork?: boolean | undefined;
    }
);

export type Outcome = Delivery | CodeState | Fault;

/** Who pays. A test may change the fields at any time. */
export interface Account {
  freeQuota: number;
  credits: number;
  /** Creations of all its applications in a minute. */
  ratePerMinute: number;
}

/** Limits of creation; null is none. A test may change them at any time. */
export interface Limits {
  perMinute: number | null;
  perRecipientHour: number | null;
}

export interface Application extends Limits {
  readonly mode: Send['mode'];
  readonly account: Account;
}

/** The contract's fields, and what only the server and the recipient know. */
export interface RecordedSend extends Send {
  /** E.164. */
  to: string;
  code: string;
  /** As the request gave it; null leaves the choice to the account. */
  locale: NonNullable<CreateSend['locale']> | null;
  /** One character a byte. */
  idempotencyKey: string | null;
}

/** Account and limits: 10 free sends (`freeSends`), 1000 credits, 600 creations a minute, and no limit of an application. */
export interface OnecodeServerOptions extends Partial<Account>, Partial<Limits> {
  /** Default: 600. */
  codeValiditySeconds?: number;
  /** What the sign-up settings say. Default: 10. */
  freeSends?: number;
  /** What happens to live sends without a script. Default: `{ status: 'delivered' }`. */
  delivery?: Delivery | readonly Delivery[];
  /** Default: a free one. */
  port?: number;
  /** The address at which it listens, such as `0.0.0.0` in a container. Default: `127.0.0.1`, which other machines cannot reach. */
  host?: string;
  /** API keys that a program is configured with before the double starts, `ak_live_…` and `ak_test_…`. Default: random ones. */
  keys?: Partial<Record<Send['mode'], string>>;
}

/** The contract in memory. `baseUrl` is its address on this machine. */
export interface OnecodeServer {
  readonly baseUrl: string;
  /** The keys of the two `applications`, which belong to `account`. */
  readonly keys: Readonly<Record<Send['mode'], string>>;
  readonly applications: Readonly<Record<Send['mode'], Application>>;
  readonly account: Account;
  /** All sends as they stand now, the oldest first. */
  readonly sends: readonly RecordedSend[];
  /** The time by the clock that `advance` moves. */
  now(): Date;
  /** The code of the latest send to a number. @throws Error without one */
  lastCode(to: string): string;
  /**
   * Says what happens to sends to a number. Deliveries and code states hold until others are scripted; deliveries also hold for sends
   * that are on their way, counted from now. Faults are met once, or `times` times, in their order.
   *
   * @throws RangeError unless `to` is a phone number
   */
  script(to: string, ...outcomes: Outcome[]): void;
  /** Moves the clock, and with it deadlines, deliveries and limits. @throws RangeError for negative seconds */
  advance(seconds: number): void;
  /** Another application, in an account of its own unless one is given. */
  addApplication(mode: Send['mode'], account?: Account): Application;
  /** Another key of an application. */
  addKey(application: Application): string;
  /** @throws Error unless there is such a key */
  revokeKey(key: string): void;
  /** Closes the port and every connection. */
  close(): Promise<void>;
}
