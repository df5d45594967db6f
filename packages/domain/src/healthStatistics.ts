import type { SenderState, Stop } from './stops.js';
import type { RecentTraffic } from './traffic.js';

/** Why Redis takes no write although it answers; `unfit`: it can never be used as REDIS_URL names it. */
export type RedisRefusal = 'out_of_memory' | 'read_only' | 'disk' | 'unfit';

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

/** Sends that wait. Seconds are null where there are none. */
export interface Backlog {
  count: number;
  oldestSeconds: number | null;
  /** The same without the account whose send has waited longest. */
  othersSeconds: number | null;
  /** Until the first of their codes expires. */
  expirySeconds: number | null;
  accounts: number;
}

export const NO_BACKLOG: Backlog = {
  count: 0,
  oldestSeconds: null,
  othersSeconds: null,
  expirySeconds: null,
  accounts: 0,
};

export interface SenderAccount {
  id: string;
  name: string;
}

/** The sends of an account that wait for senders of its own, as those of nobody else. */
export interface OwnBacklog {
  account: SenderAccount;
  waiting: Backlog;
}

/** What sends can wait for: a worker, a sender, the end of a hold, or the provider's answer, the next attempt or a receipt. */
export type BacklogName = 'due' | 'forSender' | 'held' | 'underWay';

/** What keeps a sender from sending: anything, or in a language or to a country only. Times are RFC 3339. */
export interface SenderStop extends Pick<
  Stop,
  'cause' | 'onlyFor' | 'errorCode' | 'reason' | 'isConfiguration'
> {
  since: string;
  until: string | null;
}

/** The statistics that the checks read. Null means that a source did not answer in time. */
export interface HealthStatistics {
  /** Milliseconds to an answer. */
  postgresqlMs: number | null;
  redisMs: number | null;
  redisRefusal?: RedisRefusal | null;
  connections: { used: number; most: number } | null;
  queues: readonly { isPaused: boolean }[] | null;
  /** Sends that are due, that wait for a sender that all accounts share, and that are held. */
  waiting: Record<BacklogName, Backlog> | null;
  /** Sends of accounts that leave by no shared sender, as far as some wait. */
  ownWaiting?: readonly OwnBacklog[] | null;
  /** Calls to the provider by minute, for who shows them; only their presence counts. */
  attempts?: readonly unknown[] | null;
  /** Calls to the provider in the last minutes, by outcome. */
  provider: {
    calls: number;
    accepted: number;
    failing: number;
    secondsP95: number | null;
  } | null;
  receipts: { oldestDueSeconds: number | null } | null;
  /** For how long the oldest send has been kept beyond its time; negative before that, null without one. */
  retention?: { seconds: number | null } | null;
  traffic?: RecentTraffic | null;
  /** The last round of each loop of each worker. */
  loops: readonly { loop: string; secondsAgo: number }[] | null;
  /** The workers that run, whatever their loops do. */
  workers: number | null;
  senders:
    | readonly {
        id: string;
        /** Whose it is; null for one that all accounts share. */
        account: SenderAccount | null;
        /** Masked. */
        number: string;
        state: SenderState;
        /** What stops it wholly is first. A configuration fault stays until it is proved over, or an operator resumes the sender. */
        stops: readonly SenderStop[];
        /** Whether the provider calls the number's quality low. */
        isFlagged: boolean;
      }[]
    | null;
  /** The mails that wait, and those that were given up within a day. */
  mails?: { oldestSeconds: number | null; givenUp: number } | null;
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
  /** Whose sender it stopped; null for a shared one. */
  account: SenderAccount | null;
  /** Senders that still serve the language to the same accounts. */
  serving: number;
}
