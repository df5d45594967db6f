import { randomUUID } from 'node:crypto';
import {
  digits,
  faultsOf,
  integer,
  isObject,
  object,
  oneOf,
  refuseFaults,
  text,
  type Member,
} from './input.js';

/**
 * What goes wrong. At most one of `error`, `hang`, `reset`, `acceptThenDrop`, `lateFailure` and `wrongBody`; the others
 * may stand beside it or alone.
 */
export interface Fault {
  /** Refuses with this Meta error code; `http`, `subcode` and `retryAfter` (seconds) override what it usually carries. */
  error?: number;
  http?: number;
  subcode?: number;
  retryAfter?: number;
  /** Never answers and records no message. */
  hang?: true;
  /** Cuts the connection: `before` without a message, `after` with message and receipts but no answer. */
  reset?: 'before' | 'after';
  /** Answers 200, and no receipt ever comes. */
  acceptThenDrop?: true;
  /** Answers 200, then posts a `failed` receipt with this code, when `sent` would be due or after `lateFailureMs`. */
  lateFailure?: number;
  lateFailureMs?: number;
  /** Answers something else than Meta's JSON. With `http` below 400 (default 200) the message goes out all the same. */
  wrongBody?: 'empty' | 'html' | 'no_id';
  /** Works on the request only after this time, also when the caller has left by then. */
  latencyMs?: number;
  /** Posts the receipts, and waits for their answers, before the answer to the request. */
  receiptsBeforeAnswer?: true;
  /** Posts every receipt so many times more. */
  duplicates?: number;
  /** Posts the receipts in reverse order: delivered before sent. */
  disorder?: true;
  /** `messages[].message_status` of the answer, in place of `accepted`. */
  messageStatus?: 'held_for_quality_assessment' | 'paused';
}

export interface NewRule {
  /** E.164 with `+`; every recipient when absent. */
  recipient?: string;
  /** Phone number id; every sender when absent. */
  sender?: string;
  /** The id of a business account: all its senders; every account when absent. Not together with `sender`. */
  wabaId?: string;
  /** Met by reads of the Graph API in place of sends. */
  reads?: true;
  fault: Fault;
  /** Meets only this share of the requests that it could meet, evenly spread: 0.25 is every fourth. */
  share?: number;
  /** After so many requests the rule is gone; stays when absent. */
  times?: number;
}

export interface Rule extends NewRule {
  id: string;
  /** How many requests it has met. */
  hits: number;
}

const OUTCOMES = ['error', 'hang', 'reset', 'acceptThenDrop', 'lateFailure', 'wrongBody'] as const;

const errorCode = integer(0, 99_999_999);
const yes = oneOf(true);

const FAULT_MEMBERS: Readonly<Record<keyof Fault, Member>> = {
  error: errorCode,
  http: integer(200, 599),
  subcode: errorCode,
  retryAfter: integer(0, 86_400),
  hang: yes,
  reset: oneOf('before', 'after'),
  acceptThenDrop: yes,
  lateFailure: errorCode,
  lateFailureMs: integer(0, 86_400_000),
  wrongBody: oneOf('empty', 'html', 'no_id'),
  latencyMs: integer(0, 600_000),
  receiptsBeforeAnswer: yes,
  duplicates: integer(1, 100),
  disorder: yes,
  messageStatus: oneOf('held_for_quality_assessment', 'paused'),
};
const RULE_MEMBERS: Readonly<Record<keyof NewRule, Member>> = {
  recipient: text(/^\+[1-9]\d{6,14}$/, 'a phone number in E.164 form, with +'),
  sender: text(/^\d{1,32}$/, 'a phone number id (digits)'),
  wabaId: digits,
  reads: yes,
  fault: object,
  share: {
    fits: (value) => typeof value === 'number' && value > 0 && value <= 1,
    wanted: 'a number above 0, at most 1',
  },
  times: integer(1, 1_000_000_000),
};

function checkRule(value: unknown): NewRule {
  const faults = faultsOf(value, RULE_MEMBERS);
  const rule = value as NewRule;
  if (isObject(value) && value['fault'] === undefined) faults.push('fault is missing');
  refuseFaults(faults);
  if (rule.wabaId !== undefined && rule.sender !== undefined) faults.push('wabaId goes without sender');
  if (rule.reads && rule.recipient !== undefined) faults.push('reads have no recipient');
  refuseFaults([
    ...faults,
    ...faultsOf(rule.fault, FAULT_MEMBERS, 'fault.'),
    ...faultsTogether(rule.fault),
    ...(rule.reads ? faultsOfReads(rule.fault) : []),
  ]);
  return rule;
}

function faultsTogether(fault: Fault): string[] {
  const faults: string[] = [];
  if (Object.keys(fault).length === 0) faults.push('fault names nothing that goes wrong');
  const outcomes = OUTCOMES.filter((key) => fault[key] !== undefined);
  if (outcomes.length > 1) faults.push(`fault can be only one of ${outcomes.join(', ')}`);
  const answersItself = fault.error !== undefined || fault.wrongBody !== undefined;
  for (const key of ['http', 'retryAfter'] as const)
    if (fault[key] !== undefined && !answersItself) faults.push(`fault.${key} goes with error or wrongBody`);
  if (fault.lateFailureMs !== undefined && fault.lateFailure === undefined)
    faults.push('fault.lateFailureMs goes with lateFailure');
  if (fault.subcode !== undefined && fault.error === undefined) faults.push('fault.subcode goes with error');
  return faults;
}

const READ_FAULTS: ReadonlySet<string> = new Set([
  'error',
  'http',
  'subcode',
  'retryAfter',
  'hang',
  'reset',
  'wrongBody',
  'latencyMs',
]);

function faultsOfReads(fault: Fault): string[] {
  const faults = Object.keys(fault)
    .filter((key) => !READ_FAULTS.has(key))
    .map((key) => `fault.${key} goes with sends`);
  if (fault.reset === 'after' || fault.wrongBody === 'no_id') faults.push('a read makes no message');
  return faults;
}

/**
 * The active rules. One rule applies to a request: one that names its recipient before one that names only its sender
 * before one that names only its business account before one for all; among equals the oldest, unless its share passes.
 */
export class Rules {
  /** By recipient, sender and business account, each of them empty for any, those of reads apart. */
  readonly #byTarget = new Map<string, ActiveRule[]>();
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Checks and adds a rule, which may come from parsed JSON. @throws {InvalidInput} */
  add(value: unknown): Rule {
    const rule: ActiveRule = {
      ...structuredClone(checkRule(value)),
      id: randomUUID(),
      hits: 0,
      candidates: 0,
    };
    const target = targetOf(rule);
    const rules = this.#byTarget.get(target);
    if (rules) rules.push(rule);
    else this.#byTarget.set(target, [rule]);
    this.#changed();
    return shown(rule);
  }

  list(): Rule[] {
    return [...this.#byTarget.values()].flat().map(shown);
  }

  /** `false` when no rule has this id. */
  remove(id: string): boolean {
    for (const [target, rules] of this.#byTarget) {
      const at = rules.findIndex((rule) => rule.id === id);
      if (at < 0) continue;
      rules.splice(at, 1);
      if (rules.length === 0) this.#byTarget.delete(target);
      this.#changed();
      return true;
    }
    return false;
  }

  clear(): void {
    this.#byTarget.clear();
    this.#changed();
  }

  /** The rule for this send, counted as used; `null` when none applies. `recipient` is E.164 with `+`. */
  take(recipient: string, sender: string, wabaId: string): Rule | null {
    if (this.#byTarget.size === 0) return null;
    return this.#first([
      { recipient, sender },
      { recipient, wabaId },
      { recipient },
      { sender },
      { wabaId },
      {},
    ]);
  }

  /** The same for a read, of a number, of a business account, or of neither. */
  takeRead(sender: string | null, wabaId: string | null): Rule | null {
    if (this.#byTarget.size === 0) return null;
    return this.#first([
      ...(sender === null ? [] : [{ reads: true as const, sender }]),
      ...(wabaId === null ? [] : [{ reads: true as const, wabaId }]),
      { reads: true },
    ]);
  }

  #first(targets: readonly Target[]): Rule | null {
    for (const target of targets)
      for (const rule of this.#byTarget.get(targetOf(target)) ?? [])
        if (isItsTurn(rule)) return this.#use(rule);
    return null;
  }

  #use(rule: ActiveRule): Rule {
    rule.hits += 1;
    if (rule.times !== undefined && rule.hits >= rule.times) this.remove(rule.id);
    else this.#changed();
    return rule;
  }
}

type Target = Pick<NewRule, 'recipient' | 'sender' | 'wabaId' | 'reads'>;

/** A rule with the number of requests that it met or let pass for its share. */
interface ActiveRule extends Rule {
  candidates: number;
}

function targetOf({ recipient = '', sender = '', wabaId = '', reads }: Target): string {
  return `${recipient} ${sender} ${wabaId} ${reads ?? ''}`;
}

function isItsTurn(rule: ActiveRule): boolean {
  const { share = 1 } = rule;
  rule.candidates += 1;
  return Math.floor(rule.candidates * share) > Math.floor((rule.candidates - 1) * share);
}

function shown({ candidates: _candidates, ...rule }: ActiveRule): Rule {
  return rule;
}
