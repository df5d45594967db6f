import { hashIdempotencyKey, PROBLEMS, type Problem } from '@onecode/domain';
import { requestFacts } from '@onecode/runtime';
import { storeRefusedRequests, type RefusedRequest } from '@onecode/store/reports';
import type { Database } from '@onecode/store/client';
import { detailOf } from './answer.js';
import type { AttributedRequest } from './auth.js';
import { idempotencyKeyBytes, routeOf } from './requests.js';

/** Records refused requests of known keys. They are kept in memory until a loop writes them. */
export interface RefusedRequestRecorder {
  /** Records a refused request in memory, unless its key is unknown. Never throws and never waits. */
  record: (request: AttributedRequest, problem: Problem) => void;
  /** Writes the requests since the last flush. @throws the database's error; these requests are lost */
  flush: () => Promise<void>;
}

/** Creates a recorder. Between two flushes, it counts further refusals of an application on one route for one reason in the first one. */
export function createRefusedRequestRecorder(database: Database): RefusedRequestRecorder {
  const refusals = new Map<string, RefusedRequest>();
  return {
    record(request, problem) {
      const { caller } = request;
      if (caller === undefined) return;
      const { code, details } = problem;
      const reason = {
        route: `${request.method} ${routeOf(request)}`,
        status: PROBLEMS[code].status,
        code,
        detail: detailOf(problem),
        fields: Object.keys(details.errors ?? {}),
      };
      const name = JSON.stringify([caller.applicationId, reason]);
      const first = refusals.get(name);
      if (first !== undefined) {
        first.count += 1;
        return;
      }
      const { accountId, applicationId, keyId } = caller;
      const key = idempotencyKeyBytes(request);
      refusals.set(name, {
        requestId: requestFacts(request).request_id,
        accountId,
        applicationId,
        keyId,
        refusedAt: new Date(),
        ...reason,
        idempotencyKeyHash: key && hashIdempotencyKey(key),
        count: 1,
      });
    },
    async flush() {
      const requests = [...refusals.values()];
      refusals.clear();
      await storeRefusedRequests(database, requests);
    },
  };
}
