import type { Mode } from '@onecode/domain';
import type { Test } from 'supertest';
import { contractAgent, rawRequest } from '../contract.js';
import type { RawAnswer } from '../rawConnection.js';

export const PHONE = '+5511987654321';

/** The delivery status of a live send. */
export type DeliveryStatus = 'queued' | 'sending' | 'sent' | 'delivered' | 'read' | 'failed';

type Headers = Record<string, string>;

/** An application with a key. */
export interface ContractCaller {
  mode: Mode;
  key: string;
}

export interface CallerSettings {
  /** A caller in the same account. By default, a new account with the settings below is created. */
  sibling?: ContractCaller;
  freeQuota?: number;
  credits?: number;
  ratePerMinute?: number;
}

/** A service with this contract on a port of this machine, and operations on it that the contract does not have. */
export interface ContractTarget {
  readonly port: number;
  /** Returns the time of the service's clock. */
  now(): Promise<Date>;
  /** Creates an application with a key. */
  buildCaller(mode: Mode, settings?: CallerSettings): Promise<ContractCaller>;
  /** Creates another key of the application. */
  addKey(caller: ContractCaller): Promise<ContractCaller>;
  revokeKey(caller: ContractCaller): Promise<void>;
  /** Changes the limits of the application; null turns one off. */
  limit(
    caller: ContractCaller,
    limits: { perMinute?: number | null; perRecipientHour?: number | null },
  ): Promise<void>;
  /** Returns the remaining units of the account. */
  unitsOf(caller: ContractCaller): Promise<{ freeQuota: number; credits: number }>;
  /** Advances time by some seconds for the limits of the account. */
  age(caller: ContractCaller, seconds: number): Promise<void>;
  /** Moves a queued live send to this status. Live sends are delivered only by this function. */
  deliver(id: string, status: DeliveryStatus): Promise<void>;
  /** Moves a test send to the end of its delivery. */
  simulateDelivery(id: string): Promise<void>;
  /** Moves the code's deadline into the past. */
  expire(id: string): Promise<void>;
  /** Returns the code of a live send, as sent to its recipient. */
  codeOf(id: string): Promise<string>;
  /** Returns the number that the message is sent to. */
  recipientOf(id: string): Promise<string>;
  /** Returns the `Idempotency-Key` of the send, one character for each byte; null without one. */
  idempotencyKeyOf(id: string): Promise<string | null>;
}

export const bearer = ({ key }: Pick<ContractCaller, 'key'>): Headers => ({ Authorization: `Bearer ${key}` });

/** The operations of the contract. */
export interface ContractCalls {
  /** A supertest agent that rejects responses that violate openapi.yaml. */
  request: ReturnType<typeof contractAgent>;
  /** `POST /v1/send`; text is sent unchanged. */
  create(caller: Pick<ContractCaller, 'key'>, body?: object | string, headers?: Headers): Test;
  status(caller: Pick<ContractCaller, 'key'>, id: string): Test;
  /** `POST /v1/send/{id}/verify`. */
  verify(caller: Pick<ContractCaller, 'key'>, id: string, code: string): Test;
}

export function contractCalls(port: number): ContractCalls {
  const request = contractAgent(`http://127.0.0.1:${port}`);
  return {
    request,
    create: (caller, body = { to: PHONE }, headers = {}) =>
      request
        .post('/v1/send')
        .set({ ...bearer(caller), 'Content-Type': 'application/json', ...headers })
        .send(body),
    status: (caller, id) => request.get(`/v1/send/${id}/status`).set(bearer(caller)),
    verify: (caller, id, code) => request.post(`/v1/send/${id}/verify`).set(bearer(caller)).send({ code }),
  };
}

/** The helpers of contract tests, for use inside hooks and tests. */
export interface ContractTest extends ContractCalls {
  readonly target: ContractTarget;
  /** Sends one request as bytes, over its own connection, and checks the response against openapi.yaml. */
  raw(
    method: string,
    path: string,
    headers?: readonly (readonly [name: string, value: string])[],
    body?: string | Buffer,
  ): Promise<RawAnswer>;
}

/** Returns the helpers of contract tests. @param open is called once, within a hook or a test */
export function contractTest(open: () => ContractTarget): ContractTest {
  let opened: { target: ContractTarget; calls: ContractCalls } | undefined;
  const test = (): { target: ContractTarget; calls: ContractCalls } => {
    if (opened !== undefined) return opened;
    const target = open();
    opened = { target, calls: contractCalls(target.port) };
    return opened;
  };
  return {
    get target() {
      return test().target;
    },
    get request() {
      return test().calls.request;
    },
    create: (...parameters) => test().calls.create(...parameters),
    status: (...parameters) => test().calls.status(...parameters),
    verify: (...parameters) => test().calls.verify(...parameters),
    raw: (...parameters) => rawRequest(test().target.port, ...parameters),
  };
}
