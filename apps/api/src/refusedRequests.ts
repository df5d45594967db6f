import type { IncomingMessage } from 'node:http';
import { hashIdempotencyKey, PROBLEMS, type Problem } from '@onecode/domain';
import { requestIdOf } from '@onecode/runtime';
import { storeRefusedRequests, type RefusedRequest } from '@onecode/store/reports';
import type { Database } from '@onecode/store/client';
import { detailOf } from './answer.js';
import { idempotencyKeyBytes } from './idempotencyKey.js';
import type { ApiMetrics } from './metrics.js';
import { callerOf, routeOf } from './requests.js';

const GROUP_MS = 60_000;
/** How many requests of each group are kept. Further ones only increase the count of the last one. */
const REQUESTS_PER_GROUP = 10;
/** Bounds the memory while the database is unavailable: a group takes up to ten kilobytes. */
const GROUPS_MAX = 2_000;

/** Records refused requests of known keys. A process that is killed loses up to one second of them. */
export interface RefusedRequestRecorder {
  /** Records a refused request in memory, unless its key is unknown. Never throws and never waits. */
  record(request: IncomingMessage, problem: Problem): void;
  /** Writes the recorded requests. If the write fails, they are kept for the next flush. @throws the database's error */
  flush(): Promise<void>;
}

/** A kept request, and the number of requests that it stands for, in memory and in the database. */
interface Kept {
  request: Omit<RefusedRequest, 'ageMs' | 'count'>;
  at: number;
  count: number;
  countWritten: number;
}

/** The refusals of one application on one route for one reason. A group lives for a minute, or until it is written. */
interface Group {
  openedAt: number;
  kept: Kept[];
}

/** Creates a recorder that keeps refused requests in memory until a loop writes them. @param now a monotonic clock, in milliseconds */
export function createRefusedRequestRecorder(
  database: Database,
  { refusedRequests: counter }: Pick<ApiMetrics, 'refusedRequests'>,
  now: () => number = () => performance.now(),
): RefusedRequestRecorder {
  const groups = new Map<string, Group>();

  return {
    record(request, problem) {
      const caller = callerOf(request);
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
      const at = now();
      const group = groups.get(name) ?? { openedAt: at, kept: [] };
      const last = group.kept.at(-1);
      if (last === undefined && groups.size >= GROUPS_MAX) {
        counter.inc({ result: 'dropped' });
      } else if (last !== undefined && group.kept.length >= REQUESTS_PER_GROUP) {
        last.count += 1;
        counter.inc({ result: 'counted' });
      } else {
        const { accountId, applicationId, keyId } = caller;
        const key = idempotencyKeyBytes(request);
        const idempotencyKeyHash = key && hashIdempotencyKey(key);
        group.kept.push({
          request: {
            requestId: requestIdOf(request),
            accountId,
            applicationId,
            keyId,
            ...refusal,
            idempotencyKeyHash,
          },
          at,
          count: 1,
          countWritten: 0,
        });
        groups.set(name, group);
        counter.inc({ result: 'kept' });
      }
    },
    async flush() {
      const flushedAt = now();
      const written = [...groups.values()]
        .flatMap(({ kept }) => kept.filter((one) => !isWritten(one)))
        .map((one) => ({ one, count: one.count }));
      await storeRefusedRequests(
        database,
        written.map(({ one: { request, at }, count }) => ({ ...request, ageMs: flushedAt - at, count })),
      );
      for (const { one, count } of written) one.countWritten = count;
      for (const [name, { openedAt, kept }] of groups)
        if (flushedAt - openedAt >= GROUP_MS && kept.every(isWritten)) groups.delete(name);
    },
  };
}

const isWritten = ({ count, countWritten }: Kept): boolean => countWritten === count;
