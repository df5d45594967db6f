import type { IncomingMessage } from 'node:http';
import { hashIdempotencyKey, PROBLEMS, type Problem } from '@onecode/domain';
import { requestIdOf } from '@onecode/runtime';
import { storeRefusedRequests, type RefusedRequest } from '@onecode/store/accounts';
import type { Database } from '@onecode/store/client';
import { detailOf } from './answer.js';
import { idempotencyKeyBytes } from './idempotencyKey.js';
import type { ApiMetrics } from './metrics.js';
import { callerOf, routeOf } from './requests.js';

const WINDOW_MS = 60_000;
/** Kept of one window; the others are counted on the last of them. */
const REQUESTS_PER_WINDOW = 10;
/** Bounds the memory while the database is away: a window takes ten kilobytes at the most. */
const WINDOWS_MAX = 2_000;

/** The refused requests of known keys. A process that is killed loses what it has not written in the last second. */
export interface RefusedRequestRecorder {
  /** Records in memory that a request was refused, unless its key is unknown. It never fails, and waits for nothing. */
  record(request: IncomingMessage, problem: Problem): void;
  /** Writes what was recorded. Keeps it for the next time if that fails. @throws the database's error */
  flush(): Promise<void>;
}

/** A request that is kept, and how many it counts for, now and in the database. */
interface Kept {
  request: Omit<RefusedRequest, 'ageMs' | 'count'>;
  at: number;
  count: number;
  countWritten: number;
}

/** The refusals of one application on one route for one reason, from the first one on for a minute or until they are written. */
interface Window {
  openedAt: number;
  kept: Kept[];
}

/** Records refused requests in memory until a loop writes them. @param now milliseconds of a clock that never goes back */
export function createRefusedRequestRecorder(
  database: Database,
  { refusedRequests: counter }: Pick<ApiMetrics, 'refusedRequests'>,
  now: () => number = () => performance.now(),
): RefusedRequestRecorder {
  const windows = new Map<string, Window>();

  return {
    record(request, problem) {
      const caller = callerOf(request);
      if (caller === undefined) return;
      const { code, errors = {} } = problem;
      const said = {
        route: `${request.method} ${routeOf(request)}`,
        status: PROBLEMS[code].status,
        code,
        detail: detailOf(problem),
        fields: Object.keys(errors),
      };
      const name = JSON.stringify([caller.applicationId, said]);
      const at = now();
      const window = windows.get(name) ?? { openedAt: at, kept: [] };
      const last = window.kept.at(-1);
      if (last === undefined && windows.size >= WINDOWS_MAX) {
        counter.inc({ result: 'lost' });
      } else if (last !== undefined && window.kept.length >= REQUESTS_PER_WINDOW) {
        last.count += 1;
        counter.inc({ result: 'counted' });
      } else {
        const { accountId, applicationId, keyId } = caller;
        const key = idempotencyKeyBytes(request);
        const idempotencyKeyHash = key && hashIdempotencyKey(key);
        window.kept.push({
          request: {
            requestId: requestIdOf(request),
            accountId,
            applicationId,
            keyId,
            ...said,
            idempotencyKeyHash,
          },
          at,
          count: 1,
          countWritten: 0,
        });
        windows.set(name, window);
        counter.inc({ result: 'kept' });
      }
    },
    async flush() {
      const flushedAt = now();
      const written = [...windows.values()]
        .flatMap(({ kept }) => kept.filter((one) => !isWritten(one)))
        .map((one) => ({ one, count: one.count }));
      await storeRefusedRequests(
        database,
        written.map(({ one: { request, at }, count }) => ({ ...request, ageMs: flushedAt - at, count })),
      );
      for (const { one, count } of written) one.countWritten = count;
      for (const [name, { openedAt, kept }] of windows)
        if (flushedAt - openedAt >= WINDOW_MS && kept.every(isWritten)) windows.delete(name);
    },
  };
}

const isWritten = ({ count, countWritten }: Kept): boolean => countWritten === count;
