import type { Kind } from './request.js';
import type { Figures } from './target.js';

interface Counted {
  kind: Kind;
  operation: string;
  rule: string;
}

/** What a campaign has done, and what it saw. */
export class Tally {
  /** Each with what it takes to see it again. */
  readonly failures: string[] = [];
  /** How the process did, with the part of the campaign that was done. */
  readonly samples: (Figures & { at: number })[] = [];
  readonly #kinds = new Map<string, number>();
  readonly #rules = new Map<string, number>();
  readonly #statuses = new Map<string, Map<number, number>>();
  /** The slowest request. */
  worstMs = 0;
  /** How long everything but the slow clients took. */
  seconds = 0;
  total = 0;

  /** `under` is the name under which the statuses are shown. */
  count({ kind, operation, rule }: Counted, statuses: readonly number[], under = operation): void {
    this.total += 1;
    add(this.#kinds, `${operation}: ${kind}`);
    add(this.#rules, `${kind}: ${rule}`);
    const seen = this.#statuses.get(under) ?? new Map<number, number>();
    this.#statuses.set(under, seen);
    for (const status of statuses) add(seen, status);
  }

  /** How often something of this kind was done to an operation. */
  done(operation: string, kind: Kind): number {
    return this.#kinds.get(`${operation}: ${kind}`) ?? 0;
  }

  /** The statuses that an operation answered with. */
  statuses(operation: string): number[] {
    return [...(this.#statuses.get(operation)?.keys() ?? [])].toSorted((one, other) => one - other);
  }

  /** Every rule that was used, and how often. */
  rules(): ReadonlyMap<string, number> {
    return this.#rules;
  }

  /** What was seen, for people. */
  summary(): string {
    const lines = [...this.#statuses].map(([operation, seen]) => {
      const counts = [...seen]
        .toSorted(([one], [other]) => one - other)
        .map(([status, times]) => `${status}×${times}`);
      return `  ${operation}: ${counts.join(' ')}`;
    });
    return [
      `${this.total} done in ${this.seconds.toFixed(1)} s by ${this.#rules.size} rules, the slowest in ${Math.round(this.worstMs)} ms`,
      ...lines,
    ].join('\n');
  }
}

function add<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
