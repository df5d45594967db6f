import type { IncomingMessage } from 'node:http';
import { hashIdempotencyKey, PROBLEMS, type Problem } from '@onecode/domain';
import { requestIdOf, startFlushLoop, type Logger, type Loop } from '@onecode/runtime';
import {
  REFUSED_REQUESTS_PER_MINUTE,
  storeRefusedRequests,
  type Database,
  type RefusedRequest,
  type RefusedRequestGroup,
} from '@onecode/store';
import { idempotencyKeyBytes } from './idempotencyKey.js';
import type { ApiMetrics } from './metrics.js';
import { callerOf, routeOf } from './requests.js';

const FLUSH_MS = 1_000;
/** Bounds of the memory while the database is away: groups of some hundred bytes, and requests of less than a kilobyte. */
const GROUPS_MAX = 2_000;
const REQUESTS_MAX = 2_000;

/** The refused requests of known keys that are not written yet. A process that is killed loses those of the last second. */
export interface RefusedRequestRecorder {
  /** Records in memory that a request was refused, unless its key is unknown. It never fails, and waits for nothing. */
  record(request: IncomingMessage, problem: Problem): void;
  /** Writes what was recorded. Keeps it for the next time if that fails, as far as its bounds allow. @throws the database's error */
  flush(): Promise<void>;
}

/** Refusals of one application with one code in one minute of this process's clock. */
interface Group extends Pick<RefusedRequestGroup, 'accountId' | 'applicationId' | 'code'> {
  count: number;
  lastAt: number;
  /** The first ones, at most as many as are kept. */
  requests: (Omit<RefusedRequest, 'ageMs'> & { at: number })[];
}

/** Records refused requests in memory until a loop writes them. */
export function createRefusedRequestRecorder(
  database: Database,
  { refusedRequests: counter }: Pick<ApiMetrics, 'refusedRequests'>,
): RefusedRequestRecorder {
  let groups = new Map<string, Group>();
  let heldRequests = 0;

  /** Adds a group to those that wait. What finds no room is counted, or else lost. */
  const add = (name: string, group: Group): void => {
    const known = groups.get(name);
    if (known === undefined && groups.size >= GROUPS_MAX) {
      counter.inc({ result: 'lost' }, group.count);
      return;
    }
    const target = known ?? { ...group, count: 0, requests: [] };
    target.count += group.count;
    target.lastAt = Math.max(target.lastAt, group.lastAt);
    const room = Math.min(REFUSED_REQUESTS_PER_MINUTE - target.requests.length, REQUESTS_MAX - heldRequests);
    const added = group.requests.slice(0, Math.max(0, room));
    target.requests.push(...added);
    heldRequests += added.length;
    groups.set(name, target);
  };

  return {
    record(request, problem) {
      const caller = callerOf(request);
      if (caller === undefined) return;
      const { accountId, applicationId, keyId } = caller;
      const { code, detail = null, errors = {} } = problem;
      const at = performance.now();
      const name = `${applicationId} ${code} ${Math.floor(at / 60_000)}`;
      const known = groups.get(name);
      if (known !== undefined && known.requests.length >= REFUSED_REQUESTS_PER_MINUTE) {
        known.count += 1;
        known.lastAt = at;
        return;
      }
      const key = idempotencyKeyBytes(request);
      const refused = {
        requestId: requestIdOf(request),
        keyId,
        at,
        route: `${request.method} ${routeOf(request)}`,
        status: PROBLEMS[code].status,
        detail,
        fields: Object.keys(errors),
        idempotencyKeyHash: key && hashIdempotencyKey(key),
      };
      add(name, { accountId, applicationId, code, count: 1, lastAt: at, requests: [refused] });
    },
    async flush() {
      const taken = groups;
      groups = new Map();
      heldRequests = 0;
      try {
        const kept = await storeRefusedRequests(database, [...taken.values()].map(recordOf));
        const all = [...taken.values()].reduce((sum, { count }) => sum + count, 0);
        counter.inc({ result: 'kept' }, kept);
        counter.inc({ result: 'counted' }, all - kept);
      } catch (error) {
        for (const [name, group] of taken) add(name, group);
        throw error;
      }
    },
  };
}

function recordOf({ lastAt, requests, ...group }: Group): RefusedRequestGroup {
  const now = performance.now();
  return {
    ...group,
    ageMs: now - lastAt,
    requests: requests.map(({ at, ...request }) => ({ ...request, ageMs: now - at })),
  };
}

/** Starts the loop that writes refused requests once a second, and once more when it stops. */
export function startRefusedRequestLoop(refusedRequests: RefusedRequestRecorder, log: Logger): Loop {
  const onError = (error: unknown): void => log.warn({ err: error }, 'refused requests were not written yet');
  return startFlushLoop(() => refusedRequests.flush(), FLUSH_MS, onError);
}
