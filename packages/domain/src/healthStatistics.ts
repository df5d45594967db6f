import type { SenderState } from './stops.js';
import type { RecentTraffic } from './traffic.js';

/**
 * Why Redis takes no write although it answers: it has no memory left, it is a replica or lacks its replicas, it cannot save to its
 * disk, or it can never be used as REDIS_URL names it.
 */
export type RedisRefusal = 'out_of_memory' | 'read_only' | 'disk' | 'unfit';

/** The jobs of a queue, by state. */
export interface QueueStatistics {
  name: string;
  isPaused: boolean;
  waiting: number;
  active: number;
  delayed: number;
  /** Kept for a week. */
  failed: number;
}

/** What Redis tells. Null means that it did not answer in time. */
export interface RedisHealth {
  /** Milliseconds to the answer to a write. */
  redisMs: number | null;
  /** Why it takes no write although it can be reached, or can never be used; null unless so. */
  redisRefusal: RedisRefusal | null;
  queues: QueueStatistics[] | null;
}

interface Backlog {
  count: number;
  /** Null for an empty backlog. */
  oldestSeconds: number | null;
}

/** The statistics that the checks read. Null means that a source did not answer in time. */
export interface HealthStatistics {
  /** Milliseconds to an answer. */
  postgresqlMs: number | null;
  redisMs: number | null;
  redisRefusal?: RedisRefusal | null;
  connections: { used: number; most: number } | null;
  queues: readonly { isPaused: boolean }[] | null;
  /** Sends that are due, that wait for a sender, and that are held. */
  waiting: { due: Backlog; forSender: Backlog; held: Backlog } | null;
  /** Calls to the provider by minute, for who shows them; only their presence counts. */
  attempts?: readonly unknown[] | null;
  /** Calls to the provider in the last minutes, by outcome. */
  provider: {
    calls: number;
    accepted: number;
    failing: number;
    /** Senders whose latest calls were refused for our account, token or template. */
    refusedSenders: readonly string[];
    secondsP95: number | null;
  } | null;
  receipts: { oldestDueSeconds: number | null } | null;
  traffic?: RecentTraffic | null;
  /** The last round of each loop of each worker. */
  loops: readonly { loop: string; secondsAgo: number }[] | null;
  /** The workers that run, whatever their loops do. */
  workers: number | null;
  senders:
    | readonly {
        id: string;
        state: SenderState;
        /** Whether it may not send in a language, or to a country. */
        isRestricted: boolean;
        isStoppedByProvider?: boolean;
      }[]
    | null;
  /** Templates that stopped senders for a language. */
  stoppedTemplates?: readonly StoppedTemplate[] | null;
}

/** A template that stopped senders for its language, by the provider's word or by what calls met. */
export interface StoppedTemplate {
  template: string;
  /** As the provider writes it. */
  language: string;
  /** The provider's word for its status, or `REFUSED` where only calls tell. */
  status: string;
  /** RFC 3339. */
  at: string;
  /** Senders that still serve the language. */
  serving: number;
}
