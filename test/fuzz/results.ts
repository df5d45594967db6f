import type { Kind } from './request.js';
import type { ProcessMetrics } from './apiProcess.js';

interface Counted {
  kind: Kind;
  operation: string;
  rule: string;
}

/** What a campaign has done and observed. */
export class CampaignResults {
  /** Each with the data to reproduce it. */
  readonly failures: string[] = [];
  /** Metrics of the process, with the fraction of the campaign that was done. */
  readonly samples: (ProcessMetrics & { at: number })[] = [];
  readonly #kinds = new Map<string, number>();
  readonly #rules = new Map<string, number>();
  readonly #statuses = new Map<string, Map<number, number>>();
  /** The time of the slowest request. */
  worstMs = 0;
  /** The duration of everything except the slow clients. */
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

  /** The number of requests of this kind to an operation. */
  countOf(operation: string, kind: Kind): number {
    return this.#kinds.get(`${operation}: ${kind}`) ?? 0;
  }

  /** The statuses of an operation's answers, in ascending order. */
  statuses(operation: string): number[] {
    return [...(this.#statuses.get(operation)?.keys() ?? [])].toSorted((one, other) => one - other);
  }

  /** The results as text. */
  summary(): string {
    const lines = [...this.#statuses].map(([operation, seen]) => {
      const counts = [...seen]
        .toSorted(([one], [other]) => one - other)
        .map(([status, times]) => `${status}×${times}`);
      return `  ${operation}: ${counts.join(' ')}`;
    });
    return [
      `${this.total} requests in ${this.seconds.toFixed(1)} s by ${this.#rules.size} rules, the slowest in ${Math.round(this.worstMs)} ms`,
      ...lines,
    ].join('\n');
  }
}

function add<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

interface Growth {
  residentMib: number;
  heapMib: number;
  /** The medians as text. */
  text: string;
}

/**
 * The growth of a process from its warm state (after a fifth of the campaign) to the end. It compares medians of several samples,
 * because the heap rises and falls with each collection.
 */
export function memoryGrowth(samples: readonly (ProcessMetrics & { at: number })[]): Growth {
  const warm = samples.filter(({ at }) => at >= 0.2 && at < 0.4);
  const last = samples.filter(({ at }) => at >= 0.8);
  const texts: string[] = [];
  const growthOf = (name: string, read: (metrics: ProcessMetrics) => number): number => {
    const [before, after] = [median(warm.map(read)), median(last.map(read))];
    texts.push(`${name} ${before.toFixed(1)} → ${after.toFixed(1)} MiB`);
    return after - before;
  };
  const residentMib = growthOf('resident', (metrics) => metrics.residentMib);
  const heapMib = growthOf('heap', (metrics) => metrics.heapMib);
  return { residentMib, heapMib, text: texts.join(', ') };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
