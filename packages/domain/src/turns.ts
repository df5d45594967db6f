/** How many turns an account may have for one of another; the first is what it has unless an operator sets more. */
export const WEIGHT_BOUNDS = { min: 1, max: 100 } as const;

/** An account whose sends wait for a sender. Times are virtual: one second is one turn of each waiting account with weight 1. */
export interface WaitingAccount {
  accountId: string;
  /** How many turns it gets for one of an account with weight 1; at least 1. */
  weight: number;
  /** When its latest turn ends; null when it had none lately. */
  busyUntil: number | null;
}

/** The right of an account to be given the next send slot. */
export interface Turn {
  accountId: string;
  /** Virtual times. */
  startsAt: number;
  endsAt: number;
}

/**
 * The next turns of accounts whose sends wait, in order, by start-time fair queueing (Goyal, Vin, Cheng 1996): a turn starts when the
 * account's previous one ends, or now if that is over; it lasts `1 / weight`; the turn that starts first is next, of equals that of the
 * account whose previous turn is longest ago, as new flows come first in FQ-CoDel (RFC 8290). So an account that was quiet is next,
 * whatever the others have waiting and however many they are, and none saves turns up.
 *
 * @param now the virtual time: when the latest turn that was given started
 * @param count of turns at the most
 */
export function nextTurns(accounts: readonly WaitingAccount[], now: number, count: number): Turn[] {
  const next = accounts.map(({ accountId, weight, busyUntil }) => ({
    accountId,
    lasts: 1 / weight,
    busyUntil: busyUntil ?? -Infinity,
    startsAt: Math.max(now, busyUntil ?? now),
  }));
  const turns: Turn[] = [];
  while (turns.length < count && next.length > 0) {
    const first = next.reduce((one, other) => (isBefore(other, one) ? other : one));
    const { accountId, startsAt, lasts } = first;
    first.startsAt += lasts;
    first.busyUntil = first.startsAt;
    turns.push({ accountId, startsAt, endsAt: first.startsAt });
  }
  return turns;
}

interface Next {
  accountId: string;
  busyUntil: number;
  startsAt: number;
}

function isBefore(one: Next, other: Next): boolean {
  if (one.startsAt !== other.startsAt) return one.startsAt < other.startsAt;
  return (
    one.busyUntil < other.busyUntil || (one.busyUntil === other.busyUntil && one.accountId < other.accountId)
  );
}
