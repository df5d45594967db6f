import type { AddressInfo } from 'node:net';
import type { Send } from '../contract.js';
import { parseNumber } from './input.js';
import type { Delivery, Outcome } from './script.js';
import { createContractServer } from './server.js';
import { Service, viewAt, type Account, type Application, type RecordedSend } from './service.js';

export type { CodeState, Delivery, Fault, Operation, Outcome } from './script.js';
export type { Account, Application, RecordedSend } from './service.js';

export interface OnecodeServerOptions extends Partial<Account>, Partial<Limits> {
  /** Default: 600. */
  codeValiditySeconds?: number;
  /** What the sign-up settings say. Default: 10. */
  freeSends?: number;
  /** What happens to live sends without a script. Default: `{ status: 'delivered' }`. */
  delivery?: Delivery | readonly Delivery[];
  /** Default: a free one. */
  port?: number;
}

type Limits = Pick<Application, 'perMinute' | 'perRecipientHour'>;

/** The contract in memory, on this machine. */
export interface OnecodeServer {
  readonly baseUrl: string;
  /** The keys of the two applications of `account`. */
  readonly keys: Readonly<Record<Send['mode'], string>>;
  readonly applications: Readonly<Record<Send['mode'], Application>>;
  readonly account: Account;
  /** All sends as they stand now, the oldest first. */
  readonly sends: readonly RecordedSend[];
  /** The clock that `advance` moves. */
  now(): Date;
  /** The code of the latest send to a number. @throws Error without one */
  lastCode(to: string): string;
  /**
   * Says what happens to sends to a number. Deliveries and code states hold until other ones are scripted; deliveries also hold for
   * sends that are on their way, counted from now. Faults are met once, or `times` times, in their order.
   *
   * @throws RangeError unless `to` is a phone number
   */
  script(to: string, ...outcomes: Outcome[]): void;
  /** Moves the clock, and with it expiry, deliveries and limits. @throws RangeError for negative seconds */
  advance(seconds: number): void;
  /** Another application, in an account of its own unless one is given. */
  addApplication(mode: Send['mode'], account?: Account): Application;
  /** Another key of an application. */
  addKey(application: Application): string;
  revokeKey(key: string): void;
  /** Closes the port and every connection. */
  close(): Promise<void>;
}

/** Starts the contract in memory, on a port of 127.0.0.1. Nothing leaves the machine. */
export async function startOnecode(options: OnecodeServerOptions = {}): Promise<OnecodeServer> {
  const { codeValiditySeconds = 600, freeSends = 10, delivery = { status: 'delivered' }, port = 0 } = options;
  const service = new Service({ codeValiditySeconds, delivery: [delivery].flat() });
  const newAccount = (): Account => {
    const { freeQuota = freeSends, credits = 1000, ratePerMinute = 600 } = options;
    return { freeQuota, credits, ratePerMinute };
  };
  const addApplication = (mode: Send['mode'], account = newAccount()): Application => {
    const { perMinute = null, perRecipientHour = null } = options;
    return { mode, account, perMinute, perRecipientHour };
  };
  const account = newAccount();
  const applications = { test: addApplication('test', account), live: addApplication('live', account) };
  const server = createContractServer(service, freeSends);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });

  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keys: { test: service.addKey(applications.test), live: service.addKey(applications.live) },
    applications,
    account,
    get sends() {
      const now = service.tick();
      return service.sends.map((send): RecordedSend => {
        const { to, code, locale, idempotencyKey } = send;
        return { ...viewAt(send, now), to, code, locale, idempotencyKey };
      });
    },
    now: () => new Date(service.now()),
    lastCode(to) {
      const number = numberOf(to);
      const send = service.sends.findLast((send) => send.to === number);
      if (send === undefined) throw new Error('Nothing was sent to this number.');
      return send.code;
    },
    script: (to, ...outcomes) => service.script(numberOf(to), outcomes),
    advance: (seconds) => service.advance(seconds),
    addApplication,
    addKey: (application) => service.addKey(application),
    revokeKey(key) {
      if (!service.callers.delete(key)) throw new Error('There is no such key.');
    },
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function numberOf(to: string): string {
  const number = parseNumber(to);
  if (number === null) throw new RangeError('This is no phone number with + and country code.');
  return number;
}
