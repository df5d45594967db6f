import {
  DELIVERY_STATUSES,
  VERIFICATIONS,
  type Problem,
  type Send,
  type SignupSettings,
  type VerifyResult as VerifyAnswer,
} from './contract.js';
import type { VerifyResult } from './types.js';

/** A complete response. */
export interface Answer {
  status: number;
  /** The media type without parameters, in lower case. */
  mediaType: string;
  /** The parsed JSON; undefined if the body is not JSON. */
  body: unknown;
  requestId: string | undefined;
  retryAfterSeconds: number | undefined;
  /** The server's clock, from its `Date` header, in milliseconds. */
  dateMs: number | undefined;
}

type Fields = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string' && value !== '';
const isTextOrNull: Check = (value) => value === null || typeof value === 'string';
const isTime: Check = (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value));
const isTimeOrNull: Check = (value) => value === null || isTime(value);
const isOneOf =
  (values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);
const isCount =
  (max: number): Check =>
  (value) =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max;

/** Accepts any string for `channel` and `failure_reason`: newer services may add values. */
const SEND: Record<keyof Send, Check> = {
  id: isText,
  status: isOneOf(DELIVERY_STATUSES),
  verification: isOneOf(VERIFICATIONS),
  mode: isOneOf(['test', 'live']),
  channel: isTextOrNull,
  from: isTextOrNull,
  expires_at: isTime,
  created_at: isTime,
  sent_at: isTimeOrNull,
  delivered_at: isTimeOrNull,
  read_at: isTimeOrNull,
  verified_at: isTimeOrNull,
  failed_at: isTimeOrNull,
  failure_reason: isTextOrNull,
};
const VERIFY_ANSWER: Record<keyof VerifyAnswer, Check> = {
  valid: (value) => typeof value === 'boolean',
  verification: isOneOf(VERIFICATIONS),
  attempts_left: isCount(5),
};
const SETTINGS: Record<keyof SignupSettings, Check> = { free_sends: isCount(Number.MAX_SAFE_INTEGER) };

/** Returns the send in a response with this status; null if there is none. */
export function sendIn(answer: Answer, status: 200 | 202): Send | null {
  return bodyWith<Send>(answer, status, SEND);
}

export function settingsIn(answer: Answer): SignupSettings | null {
  return bodyWith<SignupSettings>(answer, 200, SETTINGS);
}

/** Returns the verification result in a response; null if there is none. `valid` is true only for the success of the contract. */
export function judgementIn(answer: Answer): VerifyResult | null {
  const body = bodyWith<VerifyAnswer>(answer, 200, VERIFY_ANSWER);
  if (body === null) return null;
  const { valid, verification, attempts_left } = body;
  if (!valid) return { valid: false, verification, attempts_left };
  if (verification !== 'verified' || attempts_left !== 0) return null;
  return { valid, verification, attempts_left };
}

/** Returns the problem in a response; null if it is not from the service: proxies have their own errors. */
export function problemIn({ status, mediaType, body }: Answer): Problem | null {
  if (status < 400 || mediaType !== 'application/problem+json' || !isObject(body)) return null;
  const { type, title, code, detail, errors } = body;
  if (body['status'] !== status || typeof code !== 'string' || code === '') return null;
  return {
    type: String(type),
    title: String(title),
    status,
    code,
    detail: typeof detail === 'string' ? detail : undefined,
    errors: isObject(errors) ? (errors as Record<string, string>) : undefined,
  };
}

function bodyWith<Body extends object>(
  { status, mediaType, body }: Answer,
  expected: number,
  checks: Record<keyof Body, Check>,
): Body | null {
  if (status !== expected || mediaType !== 'application/json' || !isObject(body)) return null;
  const isWellFormed = Object.entries<Check>(checks).every(
    ([name, check]) => Object.hasOwn(body, name) && check(body[name]),
  );
  return isWellFormed ? (body as Body) : null;
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
