import { buildCaller, type TestDatabase } from '@onecode/testing';
import type { ClientEvent } from '../evidence.js';
import { Client } from './client.js';
import { plans, type Caller } from './plan.js';

export interface LoadOptions {
  /** The URLs of the APIs, called before each request. */
  apiUrls: () => readonly string[];
  callers: readonly Caller[];
  /** Decides the actions of every client, not their times or outcomes. */
  seed: number;
  sendsPerSecond: number;
  /** The run's own clock, in milliseconds. */
  now: () => number;
  /** The latest code that the recipient has received. */
  codeOf: (recipient: string) => Promise<string | null>;
  /** How long a client waits for one answer. */
  requestMsMax: number;
}

export interface Load {
  /** Everything that clients have observed so far. */
  readonly history: ClientEvent[];
  /** The number of clients that have started. */
  readonly sends: number;
  /** Starts no more clients and waits for the active ones: a minute or two when nothing answers. */
  stop(): Promise<void>;
}

/** The limit of active clients, which would otherwise accumulate during an outage. */
const CLIENTS_MAX = 500;

/** Starts clients at a steady rate. No outcome of a client makes it throw. */
export function startLoad(options: LoadOptions): Load {
  const history: ClientEvent[] = [];
  const context = {
    apiUrls: options.apiUrls,
    now: options.now,
    codeOf: options.codeOf,
    requestMsMax: options.requestMsMax,
    record: (event: ClientEvent): void => void history.push(event),
  };
  const active = new Set<Promise<void>>();
  const upcoming = plans(options.seed, options.callers);
  let started = 0;

  const startClient = (): void => {
    if (active.size >= CLIENTS_MAX) return;
    started += 1;
    const run = async (): Promise<void> => {
      for (const plan of upcoming.next().value) await new Client(context, plan).run();
    };
    const client = run().finally(() => active.delete(client));
    active.add(client);
  };
  const timer = setInterval(startClient, 1000 / options.sendsPerSecond);

  return {
    history,
    get sends() {
      return started;
    },
    async stop() {
      clearInterval(timer);
      while (active.size > 0) await Promise.all(active);
    },
  };
}

const WORKERS = 8;

/** The options of the nth account: most have enough in both buckets, a tenth runs out, and some have a low rate limit. */
function accountOptions(n: number): { freeQuota: number; credits: number; ratePerMinute: number | null } {
  if (n % 10 === 3) return { freeQuota: 2, credits: 1, ratePerMinute: null };
  return { freeQuota: 2 + (n % 7), credits: 10_000, ratePerMinute: n % 20 === 8 ? 20 : null };
}

/** Creates accounts with a live application each, always in the same order. Every tenth has a test application too. */
export async function buildCallers(
  { database }: Pick<TestDatabase, 'database'>,
  accounts: number,
): Promise<Caller[]> {
  const callers: Caller[][] = [];
  const numbers = Array.from({ length: accounts }, (_, n) => n).values();
  const work = async (): Promise<void> => {
    for (const n of numbers) {
      const live = await buildCaller(database, 'live', accountOptions(n));
      const test = n % 10 === 0 ? [await buildCaller(database, 'test', { id: live.accountId })] : [];
      callers[n] = [live, ...test];
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  return callers.flat();
}
