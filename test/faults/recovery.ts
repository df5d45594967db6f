import type { FaultCluster } from './cluster/faultCluster.js';

/** Milliseconds from the end of a fault; null if it did not happen while the recovery was observed. */
export interface Recovery {
  /** Until every API answered a new creation with 202, and the provider had accepted each of those sends. */
  resumedMs: number | null;
  /** Until no send from the time of the fault was undelivered. It is known later, possibly during other faults. */
  drainedMs: Promise<number | null>;
}

const WATCHED_MS = 60_000;
const DRAIN_MS_MAX = 90_000;
const REQUEST_MS_MAX = 2_000;
const POLL_MS = 50;
const DRAIN_POLL_MS = 250;

let probes = 0;

/** Watches the recovery from a fault that has just ended. `startedAt` is its start. */
export async function watchRecovery(cluster: FaultCluster, startedAt: Date): Promise<Recovery> {
  const endedAt = performance.now();
  const ended = new Date();
  const since = (): number => Math.round(performance.now() - endedAt);
  const drainedMs = untilMs(since, () => isDrained(cluster, startedAt, ended), {
    watchedMs: DRAIN_MS_MAX,
    pollMs: DRAIN_POLL_MS,
  });
  const resumed = await Promise.all(
    cluster.apiUrls.map(async (url) => {
      let id: string | null = null;
      await untilMs(since, async () => (id = await create(cluster, url)) !== null);
      return id === null ? null : untilMs(since, () => isAccepted(cluster, id as string));
    }),
  );
  return { resumedMs: worst(resumed), drainedMs };
}

/** The median; of an even count the lower of the two in the middle. */
export function medianOf(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor((numbers.length - 1) / 2)] ?? Infinity;
}

function worst(times: readonly (number | null)[]): number | null {
  return times.includes(null) ? null : Math.max(...(times as number[]));
}

/** Checks repeatedly. @returns `since()` when `check` was true, or null after `watchedMs`; an error counts as false */
export async function untilMs(
  since: () => number,
  check: () => Promise<boolean>,
  { watchedMs, pollMs } = { watchedMs: WATCHED_MS, pollMs: POLL_MS },
): Promise<number | null> {
  const deadline = since() + watchedMs;
  for (;;) {
    if (await check().catch(() => false)) return since();
    if (since() > deadline) return null;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

/** Creates a live send at one API. @returns its id, or null without a 202 */
async function create(cluster: FaultCluster, url: string): Promise<string | null> {
  probes += 1;
  const response = await fetch(`${url}/v1/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${cluster.probeCaller.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ to: `+55119${String(10_000_000 + probes)}` }),
    signal: AbortSignal.timeout(REQUEST_MS_MAX),
  });
  const body = (await response.json()) as { id?: string };
  return response.status === 202 ? (body.id ?? null) : null;
}

async function isAccepted({ db }: FaultCluster, id: string): Promise<boolean> {
  const [row] = await db.sql<{ status: string }>('select status from sends where id = $1', [id]);
  return row !== undefined && ['sent', 'delivered', 'read'].includes(row.status);
}

async function isDrained({ db }: FaultCluster, from: Date, until: Date): Promise<boolean> {
  const [row] = await db.sql<{ waiting: boolean }>(
    `select exists (
       select from sends where status in ('queued', 'sending') and created_at between $1 and $2
     ) as waiting`,
    [from, until],
  );
  return row?.waiting === false;
}
