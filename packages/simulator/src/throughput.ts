import { metaError, type MetaError } from './errors.js';
import type { Settings } from './settings.js';

interface Bucket {
  tokens: number;
  at: number;
}

const PAIRS_MAX = 100_000;

/** A token bucket for each key: `burst` at once, then one every `everyMs`. */
class Buckets {
  readonly #buckets = new Map<string, Bucket>();
  constructor(
    readonly burst: number,
    readonly everyMs: number,
  ) {}

  take(key: string, now: number): boolean {
    const bucket = this.#buckets.get(key) ?? { tokens: this.burst, at: now };
    bucket.tokens = Math.min(this.burst, bucket.tokens + (now - bucket.at) / this.everyMs);
    bucket.at = now;
    // Set again behind the others, so that the first one is always the one longest unused.
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > PAIRS_MAX) {
      const oldest = this.#buckets.keys().next();
      if (!oldest.done) this.#buckets.delete(oldest.value);
    }
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  clear(): void {
    this.#buckets.clear();
  }
}

/** Meta's two limits on sending, each only while its setting is on. */
export class Throughput {
  readonly #settings: Settings;
  readonly #pairs = new Buckets(45, 6000);
  readonly #senders = new Buckets(80, 1000 / 80);

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Counts one message at a moment in milliseconds; the refusal when a limit is reached. */
  take(sender: string, to: string, now = performance.now()): MetaError | null {
    const { pairLimit, senderLimit } = this.#settings.current;
    if (senderLimit && !this.#senders.take(sender, now)) return metaError(130429, { subcode: 2494055 });
    if (pairLimit && !this.#pairs.take(`${sender} ${to}`, now)) return metaError(131056);
    return null;
  }

  reset(): void {
    this.#pairs.clear();
    this.#senders.clear();
  }
}
