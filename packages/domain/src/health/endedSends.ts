import type { FailureReason } from '../sends/send.js';
import type { TrafficCount } from './traffic.js';

/** The counts of the last few minutes, for the health findings. Messages accepted in the last twenty seconds are not counted. */
export interface RecentTraffic {
  /** Sends that ended, accepted messages, and webhooks, of the last five minutes. */
  fiveMinutes: readonly TrafficCount[];
  /** Accepted messages and receipts of the last two minutes. */
  twoMinutes: readonly TrafficCount[];
}

/** Returns the number of events of a kind; if a reason is given, only of events with this reason. */
export function countEvents(
  counts: readonly TrafficCount[],
  event: TrafficCount['event'],
  reason?: TrafficCount['reason'],
): number {
  return counts
    .filter((one) => one.event === event && (reason === undefined || one.reason === reason))
    .reduce((sum, { count }) => sum + count, 0);
}

/** The ended sends of a country or a sender, or all of them. */
export interface EndedSends {
  delivered: number;
  failed: number;
  /** The reason of most of the failures. */
  reason: FailureReason | '';
}

/** Returns how many of the ended sends were delivered and failed, and the most frequent reason of the failures. */
export function sumEnded(counts: readonly TrafficCount[]): EndedSends {
  return {
    delivered: countEvents(counts, 'delivered'),
    failed: countEvents(counts, 'failed'),
    reason: findMost(counts, 'reason') as EndedSends['reason'],
  };
}

/** Returns the most frequent reason or account of failed sends; '' if none failed. */
function findMost(counts: readonly TrafficCount[], by: 'reason' | 'accountId'): string {
  const failed = new Map<string, number>();
  for (const { event, count, [by]: name } of counts)
    if (event === 'failed') failed.set(name, (failed.get(name) ?? 0) + count);
  const [most = ['', 0]] = [...failed].toSorted(([, a], [, b]) => b - a);
  return most[0];
}

/**
 * Returns the group's ended sends without the account with the most failures; if that leaves none, the ended sends of all other accounts.
 *
 * @param all all counts, also of other groups
 */
export function endedOfOthers(group: readonly TrafficCount[], all: readonly TrafficCount[]): EndedSends {
  const most = findMost(group, 'accountId');
  const withoutMost = (counts: readonly TrafficCount[]): TrafficCount[] =>
    counts.filter(({ accountId }) => accountId !== most);
  const others = withoutMost(group);
  return sumEnded(others.length > 0 ? others : withoutMost(all));
}
