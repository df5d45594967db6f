import type { House } from './house/house.js';

/** Milliseconds from the end of a fault; null where it did not come within the time that is watched. */
export interface Recovery {
  /** Until every API answered a fresh creation with 202. */
  createdMs: number | null;
  /** Until the provider had accepted each of those sends. */
  resumedMs: number | null;
  /** Until no send that was taken while the fault lasted waited any more: known later, whatever is broken meanwhile. */
  drainedMs: Promise<number | null>;
  /** What became of the fresh sends that took long. */
  story: string[];
}

/** A send that takes longer gets its story told. */
const LONG_MS = 5_000;

const WATCHED_MS = 60_000;
const DRAIN_MS_MAX = 90_000;
const ASKED_MS_MAX = 2_000;
const PAUSE_MS = 50;
const DRAIN_PAUSE_MS = 250;

let probes = 0;

/** Watches the house come back from a fault that began at a time of the wall clock and has just ended. */
export async function watchRecovery(house: House, begun: Date): Promise<Recovery> {
  const endedAt = performance.now();
  const ended = new Date();
  const since = (): number => Math.round(performance.now() - endedAt);
  const drainedMs = untilMs(since, () => isDrained(house, begun, ended), {
    watchedMs: DRAIN_MS_MAX,
    pauseMs: DRAIN_PAUSE_MS,
  });
  const ways = await Promise.all(
    house.apiUrls.map(async (url) => {
      let id: string | null = null;
      const createdMs = await untilMs(since, async () => {
        id = await create(house, url);
        return id !== null;
      });
      const resumedMs = id === null ? null : await untilMs(since, () => isAccepted(house, id as string));
      const isLong = id !== null && (resumedMs === null || resumedMs - (createdMs ?? 0) > LONG_MS);
      return { createdMs, resumedMs, story: isLong ? await storyOf(house, id as unknown as string) : [] };
    }),
  );
  return {
    createdMs: worst(ways.map(({ createdMs }) => createdMs)),
    resumedMs: worst(ways.map(({ resumedMs }) => resumedMs)),
    drainedMs,
    story: ways.flatMap(({ story }) => story),
  };
}

/** The lower one of two in the middle. */
export function medianOf(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor((numbers.length - 1) / 2)] ?? Infinity;
}

function worst(times: readonly (number | null)[]): number | null {
  return times.includes(null) ? null : Math.max(...(times as number[]));
}

async function untilMs(
  since: () => number,
  look: () => Promise<boolean>,
  { watchedMs, pauseMs } = { watchedMs: WATCHED_MS, pauseMs: PAUSE_MS },
): Promise<number | null> {
  const deadline = since() + watchedMs;
  for (;;) {
    if (await look().catch(() => false)) return since();
    if (since() > deadline) return null;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Creates a live send at one API. @returns its id, or null without a 202 */
async function create(house: House, url: string): Promise<string | null> {
  probes += 1;
  const response = await fetch(`${url}/v1/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${house.prober.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ to: `+55119${String(10_000_000 + probes)}` }),
    signal: AbortSignal.timeout(ASKED_MS_MAX),
  });
  const body = (await response.json()) as { id?: string };
  return response.status === 202 ? (body.id ?? null) : null;
}

async function isAccepted({ db }: House, id: string): Promise<boolean> {
  const [row] = await db.sql<{ status: string }>('select status from sends where id = $1', [id]);
  return row !== undefined && ['sent', 'delivered', 'read'].includes(row.status);
}

async function isDrained({ db }: House, from: Date, until: Date): Promise<boolean> {
  const [row] = await db.sql<{ waiting: boolean }>(
    `select exists (
       select from sends where status in ('queued', 'sending') and created_at between $1 and $2
     ) as waiting`,
    [from, until],
  );
  return row?.waiting === false;
}

/** How a send's attempts went, in milliseconds since it was created. */
async function storyOf({ db }: House, id: string): Promise<string[]> {
  const rows = await db.sql<{ outcome: string | null; from: number; until: number | null }>(
    `select outcome, round(1000 * extract(epoch from started_at - created_at))::integer as from,
       round(1000 * extract(epoch from finished_at - created_at))::integer as until
     from attempts join sends on sends.id = send_id where send_id = $1 order by started_at`,
    [id],
  );
  return rows.map(({ outcome, from, until }) => `${outcome ?? 'open'} from ${from} to ${until ?? '…'} ms`);
}
