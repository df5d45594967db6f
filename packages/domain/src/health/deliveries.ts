/** Messages that the provider accepted, and how many of them never arrived. */
export interface Deliveries {
  /** Accepted messages that did not fail and have an expired code. */
  accepted: number;
  /** The accepted messages with neither a delivery receipt nor a correct code. */
  undelivered: number;
}

/** The messages of a sender to a country: of the last day, and of the seven days before it. */
export interface DeliveryCount {
  /** `NO_COUNTRY` for numbers without a country. */
  country: string;
  senderId: string;
  lastDay: Deliveries;
  weekBefore: Deliveries;
}

/** The messages of a country or a sender. */
export interface DeliveryGroup extends Pick<DeliveryCount, 'lastDay' | 'weekBefore'> {
  name: string;
}

/** The minimum number of accepted messages for a share; shares of fewer messages vary too much. */
export const ACCEPTED_MESSAGES_MIN = 100;
/** A finding requires a share this high, because some phones are always off, and this many times the share of the week before. */
const UNDELIVERED_SHARE = 0.1;
const UNDELIVERED_RISE = 2;

/** Returns the sums of the counts by country or sender, most accepted messages of the last day first. */
export function groupDeliveries(
  counts: readonly DeliveryCount[],
  by: 'country' | 'senderId',
): DeliveryGroup[] {
  const groups = new Map<string, DeliveryGroup>();
  for (const { [by]: name, lastDay, weekBefore } of counts) {
    const group = groups.get(name);
    groups.set(name, {
      name,
      lastDay: sum(group?.lastDay, lastDay),
      weekBefore: sum(group?.weekBefore, weekBefore),
    });
  }
  return [...groups.values()].toSorted((a, b) => b.lastDay.accepted - a.lastDay.accepted);
}

const sum = (one: Deliveries = { accepted: 0, undelivered: 0 }, other: Deliveries): Deliveries => ({
  accepted: one.accepted + other.accepted,
  undelivered: one.undelivered + other.undelivered,
});

/** Returns the share of messages that never arrived; null if there are fewer than `ACCEPTED_MESSAGES_MIN`. */
export const undeliveredShare = ({ accepted, undelivered }: Deliveries): number | null =>
  accepted < ACCEPTED_MESSAGES_MIN ? null : undelivered / accepted;

/** Returns whether too many messages of the last day never arrived, compared with the week before. */
export function hasFewerDeliveries({
  lastDay,
  weekBefore,
}: Pick<DeliveryGroup, 'lastDay' | 'weekBefore'>): boolean {
  const [share, before] = [undeliveredShare(lastDay), undeliveredShare(weekBefore)];
  if (share === null || before === null) return false;
  return share >= UNDELIVERED_SHARE && share >= UNDELIVERED_RISE * before;
}
