import { parentPort, workerData } from 'node:worker_threads';
import { monotonicMs } from '../clock.mjs';

/**
 * A thread that says when each request is due. The event loop's own timers are up to a millisecond late, which would be counted
 * as the service's; to wait here holds up nobody, and is late by some microseconds.
 *
 * @type {{ beganAt: number, total: number, perSecond: number }}
 */
const { beganAt, total, perSecond } = workerData;
const never = new Int32Array(new SharedArrayBuffer(4));
for (let place = 0; place < total; place++) {
  const waitMs = beganAt + (place / perSecond) * 1000 - monotonicMs();
  if (waitMs > 0) Atomics.wait(never, 0, 0, waitMs);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(place);
}
