import { DELIVERY_STATUSES, VERIFICATIONS, type Send } from '../contract.js';
import type { Delivery, Fault, Operation, Outcome } from './types.js';

type Check = (value: unknown) => string | null;

const oneOf =
  (...values: readonly string[]): Check =>
  (value) =>
    values.includes(value as string) ? null : `must be one of ${values.join(', ')}`;
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined ? null : check(value);
const number: Check = (value) =>
  typeof value === 'number' && value >= 0 ? null : 'must be a number of at least 0';
const wholeNumber =
  (least: number): Check =>
  (value) =>
    Number.isInteger(value) && (value as number) >= least
      ? null
      : `must be a whole number of at least ${least}`;
const boolean: Check = (value) => (typeof value === 'boolean' ? null : 'must be true or false');

const REASONS = [
  'expired_before_delivery',
  'attempts_exhausted',
  'rejected_by_provider',
] as const satisfies readonly NonNullable<Send['failure_reason']>[];
const ANSWERS = [
  'insufficient_credits',
  'rate_limited',
  'internal_error',
  'lost',
] as const satisfies readonly Fault['answer'][];
const OPERATIONS = ['send', 'status', 'verify'] as const satisfies readonly Operation[];

/** The kinds of outcomes by the field that each of them has, with the checks of all its fields. */
const KINDS: Readonly<Record<'status' | 'verification' | 'answer', Readonly<Record<string, Check>>>> = {
  status: {
    status: oneOf(...DELIVERY_STATUSES),
    reason: optional(oneOf(...REASONS)),
    afterMs: optional(number),
  },
  verification: { verification: oneOf(...VERIFICATIONS.filter((state) => state !== 'pending')) },
  answer: {
    answer: oneOf(...ANSWERS),
    times: optional(wholeNumber(1)),
    retryAfterSeconds: optional(wholeNumber(0)),
    on: optional(oneOf(...OPERATIONS)),
    afterWork: optional(boolean),
  },
};

export const isFault = (outcome: Outcome): outcome is Fault => 'answer' in outcome;
export const isDelivery = (outcome: Outcome): outcome is Delivery => 'status' in outcome;

/** Returns the outcomes of a script from any source. @throws TypeError that names the faulty field and its values */
export function checkOutcomes(outcomes: unknown): readonly Outcome[] {
  if (!Array.isArray(outcomes)) throw new TypeError('The outcomes must be an array.');
  for (const outcome of outcomes as unknown[]) checkOutcome(outcome);
  return outcomes as Outcome[];
}

function checkOutcome(outcome: unknown): void {
  const fields = typeof outcome === 'object' && outcome !== null ? (outcome as Record<string, unknown>) : {};
  const kind = (['status', 'verification', 'answer'] as const).find((name) => name in fields);
  if (kind === undefined)
    throw new TypeError('An outcome must be an object with one of the fields status, verification, answer.');
  const checks = KINDS[kind];
  for (const name of Object.keys(fields))
    if (!Object.hasOwn(checks, name))
      throw new TypeError(`An outcome with ${kind} has only the fields ${Object.keys(checks).join(', ')}.`);
  for (const [name, check] of Object.entries(checks)) {
    const fault = check(fields[name]);
    if (fault !== null) throw new TypeError(`The field ${name} ${fault}.`);
  }
  if (fields['status'] === 'failed' && fields['reason'] === undefined)
    throw new TypeError(`The field reason ${oneOf(...REASONS)(undefined)}.`);
}
