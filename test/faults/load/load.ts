import type { ClientEvent } from '../evidence.js';
import type { Caller } from './callers.js';
import { Client } from './client.js';
import { plans } from './plan.js';

export interface LoadOptions {
  /** The addresses of the APIs, asked for before each request. */
  apiUrls: () => readonly string[];
  callers: readonly Caller[];
  /** Decides what every client does; not when, and not what becomes of it. */
  seed: number;
  sendsPerSecond: number;
  /** The run's own clock, in milliseconds. */
  now: () => number;
  /** The newest code that the phone of this recipient shows. */
  codeOf: (recipient: string) => Promise<string | null>;
  /** How long a client waits for one answer. */
  requestMsMax?: number;
}

export interface Load {
  /** Everything that clients saw; grows. */
  readonly history: ClientEvent[];
  /** Clients that have begun. */
  readonly sends: number;
  /** Begins no more, and waits for the clients under way: a minute or two when nothing answers any more. */
  stop(): Promise<void>;
}

const REQUEST_MS_MAX = 5_000;
/** With more than this under way nothing new begins: an outage must not pile up clients without end. */
const CLIENTS_MAX = 500;

/** Starts clients at an even pace. Nothing that happens to one makes it throw. */
export function startLoad(options: LoadOptions): Load {
  const history: ClientEvent[] = [];
  const around = {
    apiUrls: options.apiUrls,
    now: options.now,
    codeOf: options.codeOf,
    requestMsMax: options.requestMsMax ?? REQUEST_MS_MAX,
    note: (event: ClientEvent): void => void history.push(event),
  };
  const underWay = new Set<Promise<void>>();
  const upcoming = plans(options.seed, options.callers);
  let begun = 0;

  const begin = (): void => {
    if (underWay.size >= CLIENTS_MAX) return;
    begun += 1;
    const run = async (): Promise<void> => {
      for (const plan of upcoming.next().value) await new Client(around, plan).run();
    };
    const client = run().finally(() => underWay.delete(client));
    underWay.add(client);
  };
  const timer = setInterval(begin, 1000 / options.sendsPerSecond);

  return {
    history,
    get sends() {
      return begun;
    },
    async stop() {
      clearInterval(timer);
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
