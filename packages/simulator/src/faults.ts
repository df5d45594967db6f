import { randomUUID } from 'node:crypto';
import type { Response } from 'express';
import { cut, metaError, refuse } from './answers.js';
import { id, integer, InvalidInput, object, oneOf, phone, read, type ValuesOf } from './input.js';
import type { RequestRecord } from './log.js';
import type { Timers } from './timers.js';

const errorCode = integer(0, 99_999_999);

/** A fault. At most one member of `OUTCOMES`; the others can be combined with it. */
const FAULT = {
  /** Refuses with this Meta error code; `http`, `subcode` and `retryAfter` (seconds) override its usual ones. */
  error: errorCode,
  http: integer(200, 599),
  subcode: errorCode,
  retryAfter: integer(0, 86_400),
  /** Never answers and records no message. */
  hang: oneOf(true),
  /** Cuts the connection: `before` without a message, `after` with message and receipts but no answer. */
  reset: oneOf('before', 'after'),
  /** Answers 200, and never posts a receipt. */
  acceptThenDrop: oneOf(true),
  /** Answers 200, then posts a `failed` receipt with this code, when `sent` would be due or after `lateFailureMs`. */
  lateFailure: errorCode,
  lateFailureMs: integer(0, 86_400_000),
  /** Answers with a body other than Meta's JSON. With `http` below 400 (default 200) the message is still sent. */
  wrongBody: oneOf('empty', 'html', 'no_id'),
  /** Handles the request after this time, even if the caller has disconnected. */
  latencyMs: integer(0, 600_000),
  /** Posts the receipts, and waits for their answers, before the answer to the request. */
  receiptsBeforeAnswer: oneOf(true),
  /** Posts every receipt this many more times. */
  duplicates: integer(1, 100),
  /** Posts the receipts in reverse order: delivered before sent. */
  disorder: oneOf(true),
  /** `messages[].message_status` of the answer, instead of `accepted`. */
  messageStatus: oneOf('held_for_quality_assessment', 'paused'),
};
export type Fault = Partial<ValuesOf<typeof FAULT>>;

const OUTCOMES = ['error', 'hang', 'reset', 'acceptThenDrop', 'lateFailure', 'wrongBody'] as const;

const RULE = {
  /** E.164 with `+`; every recipient when absent. */
  recipient: phone,
  /** Phone number id; every sender when absent. */
  sender: id,
  /** The id of a business account: all its senders; every account when absent. */
  wabaId: id,
  /** The rule ends after this many requests; never when absent. */
  times: integer(1, 1_000_000_000),
};

export interface NewRule extends Partial<ValuesOf<typeof RULE>> {
  fault: Fault;
}

export interface Rule extends NewRule {
  id: string;
  /** The number of requests that it applied to. */
  hits: number;
}

/** The parts of a call that rules and throttles match; a read has no recipient, a read of an account or token no sender. */
export interface Call {
  /** E.164 with `+`. */
  recipient: string | null;
  sender: string | null;
  wabaId: string | null;
}

/** Returns whether a call matches; an absent field matches every call. */
export function covers(named: Partial<Call>, call: Call): boolean {
  return (['recipient', 'sender', 'wabaId'] as const).every(
    (key) => named[key] === undefined || named[key] === call[key],
  );
}

/**
 * The active rules. At most one rule applies to a call: a rule for its recipient first, then for its sender, then for its business account,
 * then for all; among equals the oldest.
 */
export class Rules {
  readonly #rules = new Map<string, Rule>();
  constructor(readonly changed: () => void) {}

  /** Checks and adds a rule, which may come from parsed JSON. @throws {InvalidInput} */
  add(value: NewRule): Rule {
    const { fault, ...wanted } = read(value, { ...RULE, fault: object }, ['fault']);
    const rule = { ...wanted, fault: readFault(fault), id: randomUUID(), hits: 0 };
    this.#rules.set(rule.id, rule);
    this.changed();
    return { ...rule };
  }

  list(): Rule[] {
    return Array.from(this.#rules.values(), (rule) => ({ ...rule }));
  }

  /** Removes a rule. @returns `false` when no rule has this id */
  remove(ruleId: string): boolean {
    const existed = this.#rules.delete(ruleId);
    this.changed();
    return existed;
  }

  clear(): void {
    this.#rules.clear();
    this.changed();
  }

  /** Returns the rule for this send and counts its use; `null` when none applies. */
  take(call: Call): Rule | null {
    if (this.#rules.size === 0) return null;
    const [rule] = [...this.#rules.values()]
      .filter((candidate) => covers(candidate, call))
      .toSorted((one, other) => precisionOf(other) - precisionOf(one));
    if (!rule) return null;
    rule.hits += 1;
    if (rule.hits === rule.times) this.#rules.delete(rule.id);
    this.changed();
    return rule;
  }
}

function readFault(value: unknown): Fault {
  const fault = read(value, FAULT);
  const outcomes = OUTCOMES.filter((key) => fault[key] !== undefined);
  if (outcomes.length > 1) throw new InvalidInput([`fault can be only one of ${outcomes.join(', ')}`]);
  if (Object.keys(fault).length === 0) throw new InvalidInput(['fault must have at least one member']);
  return fault;
}

function precisionOf({ recipient, sender, wabaId }: Rule): number {
  return (recipient === undefined ? 0 : 4) + (sender === undefined ? 0 : 2) + (wabaId === undefined ? 0 : 1);
}

/** Waits and ends a call as its fault requires. @returns the outcome of an ended call, `null` for any other */
export async function endedAtOnce(
  { scope }: Timers,
  fault: Fault,
  response: Response,
): Promise<Partial<Pick<RequestRecord, 'outcome' | 'http' | 'code'>> | null> {
  if (fault.latencyMs !== undefined && !(await scope.sleep(fault.latencyMs))) {
    cut(response);
    return {};
  }
  if (fault.hang) {
    response.once(
      'close',
      scope.atEnd(() => cut(response)),
    );
    return { outcome: 'hung' };
  }
  if (fault.reset === 'before') {
    cut(response);
    return { outcome: 'reset_before' };
  }
  if (fault.error === undefined) return null;
  const error = metaError(fault.error, fault);
  const isHeard = !response.destroyed;
  if (isHeard) refuse(response, error);
  return { outcome: 'error', code: fault.error, http: isHeard ? error.http : null };
}
