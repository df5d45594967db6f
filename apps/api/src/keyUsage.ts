import { LRUCache } from 'lru-cache';
import { startLoop, type Logger, type Loop } from '@onecode/runtime';
import { recordKeyUsage, type Database } from '@onecode/store';

/** A key in use is written about once a minute. */
const RECORDED_MS = 60_000;
const KEYS_MAX = 10_000;
const FLUSH_MS = 5_000;

/** Who was here lately, by the keys' SHA-256 in latin1. */
export interface KeyUsageTracker {
  /** Notes a use. Costs nothing: the request does not wait for the database. */
  note(hash: string): void;
  /** Writes what was noted, and forgets it only once it is written. @throws the database's error */
  flush(): Promise<void>;
}

/** Gathers the uses of keys, for a loop to write them. */
export function createKeyUsageTracker(database: Database): KeyUsageTracker {
  const noted = new Set<string>();
  const recorded = new LRUCache<string, true>({ max: KEYS_MAX, ttl: RECORDED_MS });
  return {
    note(hash) {
      if (noted.size < KEYS_MAX && !recorded.has(hash)) noted.add(hash);
    },
    async flush() {
      const hashes = [...noted];
      await recordKeyUsage(
        database,
        hashes.map((hash) => Buffer.from(hash, 'latin1')),
      );
      for (const hash of hashes) {
        noted.delete(hash);
        recorded.set(hash, true);
      }
    },
  };
}

/** Writes the uses of keys every five seconds, and once more at its stop. What cannot be written is noted in the log, and kept. */
export function recordKeyUsages(keyUsage: KeyUsageTracker, log: Logger): Loop {
  const onError = (error: unknown): void => log.warn({ err: error }, 'the use of keys was not recorded');
  const loop = startLoop(() => keyUsage.flush(), FLUSH_MS, onError);
  return {
    async stop() {
      await loop.stop();
      await keyUsage.flush().catch(onError);
    },
  };
}
