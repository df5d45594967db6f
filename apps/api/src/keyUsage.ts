import { LRUCache } from 'lru-cache';
import { recordKeyUsage } from '@onecode/store/accounts';
import type { Database } from '@onecode/store/client';

/** How often a process writes the use of a key. */
const WRITTEN_MS = 60_000;
const WRITTEN_KEYS_MAX = 10_000;

/** The recent uses of keys, by the keys' SHA-256 in latin1. */
export interface KeyUsageTracker {
  /** Records a use in memory, so that the request does not wait for the database. */
  record(hash: string): void;
  /** Writes the recorded uses, and removes them from memory after the write. @throws the database's error */
  flush(): Promise<void>;
}

/** Creates a tracker that keeps the uses of keys in memory until a loop writes them. */
export function createKeyUsageTracker(database: Database): KeyUsageTracker {
  const used = new Set<string>();
  const written = new LRUCache<string, true>({ max: WRITTEN_KEYS_MAX, ttl: WRITTEN_MS });
  return {
    record(hash) {
      if (!written.has(hash)) used.add(hash);
    },
    async flush() {
      const hashes = [...used];
      await recordKeyUsage(
        database,
        hashes.map((hash) => Buffer.from(hash, 'latin1')),
      );
      for (const hash of hashes) {
        used.delete(hash);
        written.set(hash, true);
      }
    },
  };
}
