import { LRUCache } from 'lru-cache';
import { hashIdempotencyKey, PROBLEMS, type Problem } from '@onecode/domain';
import { requestFacts } from '@onecode/runtime';
import { storeRefusedRequests, type RefusedRequest } from '@onecode/store/reports';
import type { Database } from '@onecode/store/client';
import { detailOf } from './answer.js';
import type { AttributedRequest } from './auth.js';
import { idempotencyKeyBytes, routeOf } from './requests.js';

/** A group: the refusals of one application on one route for one reason, within a minute. */
const GROUP_MS = 60_000;
const GROUPS_MAX = 2_000;
/** How many requests of each group are kept. Further ones only increase the count of the last one. */
const REQUESTS_PER_GROUP = 10;
/** Bounds the memory while the database is unavailable. Further requests are not recorded. */
const UNWRITTEN_MAX = 10_000;

/** Records refused requests of known keys. They are kept in memory until a loop writes them. */
export interface RefusedRequestRecorder {
  /** Records a refused request in memory, unless its key is unknown. Never throws and never waits. */
  record: (request: AttributedRequest, problem: Problem) => void;
  /** Writes the recorded requests. If the write fails, they are kept for the next flush. @throws the database's error */
  flush: () => Promise<void>;
}

/** A kept request, and the number of requests that it stands for. */
interface Kept extends Omit<RefusedRequest, 'ageMs'> {
  at: number;
}

/** Creates a recorder that keeps refused requests in memory until a loop writes them. */
export function createRefusedRequestRecorder(database: Database): RefusedRequestRecorder {
  const groups = new LRUCache<string, Kept[]>({ max: GROUPS_MAX, ttl: GROUP_MS });
  /** The kept requests that are not in the database, or with a lower count. */
  const unwritten = new Set<Kept>();

  return {
    record(request, problem) {
      const { caller } = request;
      if (caller === undefined) return;
      const { code, details } = problem;
      const refusal = {
        route: `${request.method} ${routeOf(request)}`,
        status: PROBLEMS[code].status,
        code,
        detail: detailOf(problem),
        fields: Object.keys(details.errors ?? {}),
      };
      const name = JSON.stringify([caller.applicationId, refusal]);
      const group = groups.get(name) ?? [];
      const last = group[REQUESTS_PER_GROUP - 1];
      if (last !== undefined) {
        last.count += 1;
        unwritten.add(last);
      } else if (unwritten.size < UNWRITTEN_MAX) {
        const { accountId, applicationId, keyId } = caller;
        const key = idempotencyKeyBytes(request);
        const kept = {
          requestId: requestFacts(request).request_id,
          accountId,
          applicationId,
          keyId,
          ...refusal,
          idempotencyKeyHash: key && hashIdempotencyKey(key),
          at: performance.now(),
          count: 1,
        };
        if (group.push(kept) === 1) groups.set(name, group);
        unwritten.add(kept);
      }
    },
    async flush() {
      const flushedAt = performance.now();
      const batch = [...unwritten].map((kept) => ({ kept, count: kept.count }));
      await storeRefusedRequests(
        database,
        batch.map(({ kept: { at, ...request } }) => ({ ...request, ageMs: flushedAt - at })),
      );
      // A request that was counted again meanwhile is written again.
      for (const { kept, count } of batch) if (kept.count === count) unwritten.delete(kept);
    },
  };
}
