import type { Block, SenderState } from '../senders/blocks.js';
import type { DeliveryCount } from './deliveries.js';
import type { RecentTraffic } from './endedSends.js';

export interface QueueStatistics {
  name: string;
  isPaused: boolean;
  waiting: number;
  active: number;
  /** Failed jobs are kept for a week. */
  failed: number;
}

/** A reading of Redis. `redisMs` and `queues` are null if Redis did not respond in time or rejected the write. */
export interface RedisHealth {
  /** Milliseconds until a write was confirmed. */
  redisMs: number | null;
  queues: QueueStatistics[] | null;
}

/** Sends that wait. Seconds are null if there are none. */
export interface Backlog {
  count: number;
  oldestSeconds: number | null;
  /** The same, but without the sends of the account with the oldest waiting send. */
  othersSeconds: number | null;
  /** Seconds until the first of their codes expires. */
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

/** The sends of an account that wait for the account's own senders. */
export interface OwnBacklog {
  account: SenderAccount;
  waiting: Backlog;
}

/** What sends wait for: a worker, a sender, the end of a hold, or the provider's response, the next attempt or a receipt. */
export type BacklogName = 'due' | 'forSender' | 'held' | 'underWay';

/** A template that the provider blocks. */
export interface BlockedTemplate {
  template: string;
  /** In the provider's format, such as `pt_BR`. */
  language: string;
  /** The status that the provider reports, or `RECATEGORIZED`. */
  status: string;
  /** When the status began (RFC 3339). */
  at: string;
}

/** A block of a sender: of all messages, or of one language or country. Times are RFC 3339. */
export interface SenderBlock extends Pick<
  Block,
  'cause' | 'onlyFor' | 'errorCode' | 'reason' | 'isConfiguration'
> {
  since: string;
  until: string | null;
  /** Only for the provider's block of one language. */
  template: BlockedTemplate | null;
}

/** The live messages of a sender that the provider accepted and held before it sent or dropped them. */
export interface HeldMessages {
  lastDay: number;
  lastHour: number;
  /** The seconds between the first and the last one of the last hour. */
  lastHourSeconds: number;
}

export const NO_HELD_MESSAGES: HeldMessages = { lastDay: 0, lastHour: 0, lastHourSeconds: 0 };

export interface SenderStatistics {
  id: string;
  /** The account that owns it; null for a shared sender. */
  account: SenderAccount | null;
  /** Masked: the calling code and the last digits. */
  number: string;
  state: SenderState;
  /** A block of all messages is first. A block for a configuration fault stays until it is cleared, or an operator resumes the sender. */
  blocks: readonly SenderBlock[];
  /** Whether the provider rates the number's quality as low. */
  hasLowQuality: boolean;
  heldMessages: HeldMessages;
}

/** The statistics that the rules read. Null means that a source did not respond in time. */
export interface HealthStatistics {
  /** Milliseconds until a response. */
  postgresqlMs: number | null;
  redisMs: number | null;
  connections: { used: number; most: number } | null;
  queues: readonly { isPaused: boolean }[] | null;
  /** Sends that are due, that wait for a shared sender, that are held, and that are in progress. */
  waiting: Record<BacklogName, Backlog> | null;
  /** Sends that wait for their accounts' own senders. */
  ownWaiting: readonly OwnBacklog[] | null;
  /** Calls to the provider in the last few minutes, by outcome. */
  provider: {
    calls: number;
    accepted: number;
    failing: number;
    secondsP95: number | null;
  } | null;
  receipts: { oldestDueSeconds: number | null } | null;
  /** By how many seconds the oldest send is overdue for deletion; negative if none is overdue, null without sends. */
  retention: { seconds: number | null } | null;
  traffic: RecentTraffic | null;
  deliveries: readonly DeliveryCount[] | null;
  /** The last run of each loop of each worker. */
  loops: readonly { loop: string; secondsAgo: number }[] | null;
  /** How many workers run. */
  workers: number | null;
  senders: readonly SenderStatistics[] | null;
  /** How long the oldest waiting email has waited, and the number of emails given up in the last day. */
  mails: { oldestSeconds: number | null; givenUp: number } | null;
}
