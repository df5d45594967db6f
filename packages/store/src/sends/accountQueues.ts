import pLimit from 'p-limit';
import { createBatcher } from '../client/batcher.js';

/** Somebody else held the account's lock for longer than a request waits. Nothing was done. */
export class AccountBusy extends Error {
  constructor() {
    super('the account is locked by somebody else');
  }
}

/** Batches that wait for locks at a time, each of them on a connection. */
const WAITING_BATCHES_MAX = 4;
/** A request that has waited for longer than this is an error. */
const WAIT_MS_MAX = 3_000;

interface Timed<Request> {
  request: Request;
  startedAt: number;
}

interface Queue<Request, Result> {
  run: (request: Timed<Request>) => Promise<Result | 'busy'>;
  /** Requests in the queue; it closes with the last one. */
  requests: number;
}

export interface AccountQueues<Request, Result> {
  /** Whether requests of this account wait. */
  isOpen(accountId: string): boolean;
  /** Runs a request after those of its account that wait already. @throws AccountBusy after some seconds */
  run(accountId: string, request: Request): Promise<Result>;
}

/**
 * Queues for accounts whose lock somebody else has: each account's requests wait for it together, and nobody waits for another account's.
 * @param runBatch returns `busy` for all requests when the lock did not come in time to let another account's queue have its turn
 */
export function createAccountQueues<Request, Result>(
  runBatch: (requests: readonly Request[]) => Promise<(Result | 'busy')[]>,
  { batchSizeMax }: { batchSizeMax: number },
): AccountQueues<Request, Result> {
  const queues = new Map<string, Queue<Request, Result>>();
  const limit = pLimit(WAITING_BATCHES_MAX);

  const runWaiting = async (batch: readonly Timed<Request>[]): Promise<(Result | 'busy')[]> => {
    const requests = batch.map(({ request }) => request);
    const oldest = Math.min(...batch.map(({ startedAt }) => startedAt));
    for (;;) {
      const results = await limit(() => runBatch(requests));
      if (results.some((one) => one !== 'busy') || performance.now() - oldest > WAIT_MS_MAX) return results;
    }
  };
  const queueOf = (accountId: string): Queue<Request, Result> => {
    const open = queues.get(accountId);
    if (open !== undefined) return open;
    const queue = { run: createBatcher(runWaiting, { batchSizeMax }), requests: 0 };
    queues.set(accountId, queue);
    return queue;
  };

  return {
    isOpen: (accountId) => queues.has(accountId),
    async run(accountId, request) {
      const queue = queueOf(accountId);
      const startedAt = performance.now();
      queue.requests += 1;
      try {
        for (;;) {
          const result = await queue.run({ request, startedAt });
          if (result !== 'busy') return result;
          if (performance.now() - startedAt > WAIT_MS_MAX) throw new AccountBusy();
        }
      } finally {
        queue.requests -= 1;
        if (queue.requests === 0) queues.delete(accountId);
      }
    },
  };
}
