import type { Mode } from '@onecode/domain';
import type { Test } from 'supertest';
import { contractAgent, rawRequest } from '../contract.js';
import type { RawAnswer } from '../rawConnection.js';

export const PHONE = '+5511987654321';

/** The delivery status of a live send. */
export type DeliveryStatus = 'queued' | 'sending' | 'sent' | 'delivered' | 'read' | 'failed';

type Headers = Record<string, string>;

/** An application and a key of it. */
export interface ContractCaller {
  mode: Mode;
  key: string;
}

export interface CallerSettings {
  /** Whose account the application belongs to; a new one unless given, with the settings below. */
  sibling?: ContractCaller;
  freeQuota?: number;
  credits?: number;
  ratePerMinute?: number;
}

/** A service that speaks the contract on a port of this machine, and what no request of the contract can do to it. */
export interface ContractTarget {
  readonly port: number;
  /** The time by the clock of the service. */
  now(): Promise<Date>;
  /** An application with a key of its own. */
  buildCaller(mode: Mode, settings?: CallerSettings): Promise<ContractCaller>;
  /** Another key of the application. */
  addKey(caller: ContractCaller): Promise<ContractCaller>;
  revokeKey(caller: ContractCaller): Promise<void>;
  /** Changes the limits of the application; null turns one off. */
  limit(
    caller: ContractCaller,
    limits: { perMinute?: number | null; perRecipientHour?: number | null },
  ): Promise<void>;
  /** What is left to the account. */
  unitsOf(caller: ContractCaller): Promise<{ freeQuota: number; credits: number }>;
  /** Lets seconds go by for the limits of the account. */
  age(caller: ContractCaller, seconds: number): Promise<void>;
  /** Brings a queued live send to this status. Nothing else moves the delivery of live sends. */
  deliver(id: string, status: DeliveryStatus): Promise<void>;
  /** Brings a test send to the end of its delivery. */
  simulateDelivery(id: string): Promise<void>;
  /** Lets the code's deadline go by. */
  expire(id: string): Promise<void>;
  /** The code of a live send, as its recipient reads it. */
  codeOf(id: string): Promise<string>;
  /** The number that the message goes to. */
  recipientOf(id: string): Promise<string>;
  /** The bytes of the `Idempotency-Key` that made the send, one character a byte; null without one. */
  idempotencyKeyOf(id: string): Promise<string | null>;
}

export const bearer = ({ key }: Pick<ContractCaller, 'key'>): Headers => ({ Authorization: `Bearer ${key}` });

/** The operations of the contract. */
export interface ContractCalls {
  /** A supertest agent whose requests reject when an answer breaks openapi.yaml. */
  request: ReturnType<typeof contractAgent>;
  /** `POST /v1/send`; text is sent as it is. */
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

/** What the contract tests work with, from the hooks of their file on. */
export interface ContractTest extends ContractCalls {
  readonly target: ContractTarget;
  /** One request as bytes, over a connection of its own; its answer is checked against openapi.yaml. */
  raw(
    method: string,
    path: string,
    headers?: readonly (readonly [name: string, value: string])[],
    body?: string | Buffer,
  ): Promise<RawAnswer>;
}

/** @param open is called once, within a hook or a test */
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
