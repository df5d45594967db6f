import type { Verification } from '../contract.js';
import { isDelivery, isFault } from './outcomes.js';
import { LostAnswer, Problem } from './problem.js';
import type { Delivery, Fault, Operation, Outcome } from './types.js';

/** The script of one recipient. */
export class Script {
  deliveries: readonly Delivery[];
  verification: Verification = 'pending';
  private faults: { fault: Fault; left: number }[] = [];

  constructor(deliveries: readonly Delivery[]) {
    this.deliveries = deliveries;
  }

  /** Deliveries and states replace earlier ones; faults queue behind earlier faults. */
  add(outcomes: readonly Outcome[]): void {
    const deliveries = outcomes.filter(isDelivery);
    if (deliveries.length > 0) this.deliveries = deliveries;
    for (const outcome of outcomes)
      if (isFault(outcome)) this.faults.push({ fault: outcome, left: outcome.times ?? 1 });
      else if (!isDelivery(outcome)) this.verification = outcome.verification;
  }

  /** Does the work of a request, or the scripted fault instead. @throws Problem, LostAnswer */
  perform<T>(operation: Operation, work: () => T): T {
    const next = this.faults.find(({ fault }) => (('on' in fault && fault.on) || 'send') === operation);
    if (next === undefined) return work();
    next.left -= 1;
    if (next.left <= 0) this.faults.splice(this.faults.indexOf(next), 1);
    const { fault } = next;
    if ('afterWork' in fault && fault.afterWork === true) doWork(work);
    if (fault.answer === 'lost') throw new LostAnswer();
    if (fault.answer === 'rate_limited') throw rateLimited(fault.retryAfterSeconds ?? 1);
    throw new Problem(fault.answer);
  }
}

/** Does the work, and discards its response or its refusal. */
function doWork(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}

/** @param seconds until the same request can be retried */
export function rateLimited(seconds: number, detail?: string, headers?: Record<string, string>): Problem {
  return new Problem('rate_limited', { detail, headers: { 'Retry-After': String(seconds), ...headers } });
}
